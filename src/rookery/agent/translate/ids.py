"""Tool calls' ids: the model's own, made unique within the session, since some models count from
the start in every answer. The same events give the same ids after a load."""


class Ids:
    def __init__(self) -> None:
        self._uses: dict[str, int] = {}
        self._of: dict[tuple[str, str], str] = {}
        self._latest: dict[tuple[str, str], str] = {}

    def of_call(self, scope: str, response: str, call: str) -> str:
        """The id of a call in an answer. `scope`: the conversation, since a sub-agent's model
        counts for itself."""
        key = (f"{scope}\n{response}", call)
        if key not in self._of:
            uses = self._uses[call] = self._uses.get(call, 0) + 1
            self._of[key] = call if uses == 1 else f"{call}-{uses}"
        self._latest[scope, call] = self._of[key]
        return self._of[key]

    def latest(self, scope: str, call: str) -> str:
        """The id of the newest call of that name."""
        return self._latest.get((scope, call)) or self.of_call(scope, "", call)
