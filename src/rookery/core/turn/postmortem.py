"""What is true of a session whose worker is gone: said once, by whoever takes the lock next (row
W8). What was asked stays asked (row P9)."""

from rookery.core.json.events import Draft, Json


def post_mortem(header: Json, detail: str = "") -> list[Draft]:
    """The events that end what a dead worker left open; none when it left nothing open."""
    drafts: list[Draft] = []
    if header["state"] != "idle":
        update: Json = {"sessionUpdate": "_turn", "state": "idle", "turn": header["turn"]}
        drafts.append(
            Draft(update | {"reason": "interrupted"} | ({"detail": detail} if detail else {}))
        )
    if header["process"]["state"] in ("starting", "ready"):
        name = header["process"].get("name", header["agent"])
        gone = {
            "sessionUpdate": "_agent",
            "state": "exited",
            "name": name,
            "reason": "worker_ended",
        }
        drafts.append(Draft(gone))
    if header["state"] == "idle" and header["critic"]["state"]:
        why = {"sessionUpdate": "_critic", "state": "interrupted", "detail": "the worker was ended"}
        drafts.append(Draft(why, None, "critic"))
    return drafts
