"""What the next holder of the lock logs about a session whose worker died. What was asked stays
asked."""

from rookery.core.json.events import Draft, Json


def post_mortem(header: Json, detail: str = "") -> list[Draft]:
    """The events that end what a dead worker left open; none when it left nothing open."""
    drafts: list[Draft] = []
    if header["state"] != "idle":
        update: Json = {"sessionUpdate": "_turn", "state": "idle", "turn": header["turn"]}
        update |= {"reason": "interrupted"} | ({"detail": detail} if detail else {})
        drafts.append(Draft(update))
    if header["process"]["state"] in ("starting", "ready"):
        name = header["process"].get("name", header["agent"])
        gone: Json = {"sessionUpdate": "_agent", "state": "exited", "name": name}
        drafts.append(Draft(gone | {"reason": "worker_ended"}))
    if header["state"] == "idle" and header["critic"]["state"]:
        why = {"sessionUpdate": "_critic", "state": "interrupted", "detail": "the worker was ended"}
        drafts.append(Draft(why, None, "critic"))
    return drafts
