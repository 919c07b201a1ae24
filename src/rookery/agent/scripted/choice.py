"""Chooses the answer to a request. Its conversation tells which turn is next, so one server serves
many sessions at once, including resumed and forked ones."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence

from rookery.agent.scripted import demo, script
from rookery.agent.scripted.conversation import Conversation
from rookery.agent.scripted.script import Failure, Script, ScriptError, Turn, turns_of

MARK = '{"play"'


class Chooser:
    """Chooses answers. Its only state is how often each request was made."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self._made: Counter[str] = Counter()
        self._taken = 0

    def refusal(self, model: str, key: str) -> Failure | None:
        """Return why a request is refused, for its key or its model; None if it is not."""
        if self.script.key and key != self.script.key:
            return script.NAMED["auth"]
        if self.script.only_models and model not in self.script.models:
            return script.NAMED["model"]._replace(message=f"The model `{model}` does not exist.")
        return None

    def next(self, conversation: Conversation) -> Turn:
        again = self._made_before(conversation)
        try:
            chosen = self._turns_in_prompt(conversation)
        except ScriptError as error:
            message = f"scripted model: {error}"
            return Turn(failure=Failure(400, message, "invalid_script", None))
        if chosen is None and not conversation.tools and self.script.aside is not None:
            return _filled(self.script.aside, conversation)
        if chosen is None:
            chosen = self._turns_of_script(conversation)
        if chosen is None:
            return demo.next_turn(conversation)
        turns, place = chosen
        if self.script.by_request and place < 0:
            at, self._taken = self._taken, self._taken + 1
            turn = turns[at] if at < len(turns) else None
        else:
            turn = pick(turns, conversation.answers_since(max(place, 0)), again)
        return _filled(turn or self.script.otherwise, conversation)

    def _turns_in_prompt(self, conversation: Conversation) -> tuple[Sequence[Turn], int] | None:
        """Return the turns and place of the latest prompt that is a script; else None."""
        # Without tools a script inside a prompt is only quoted, as in a summary, which the script's
        # own aside answers.
        quoted_too = bool(conversation.tools) or self.script.aside in (None, script.ASIDE)
        for place, prompt in conversation.prompts():
            for text in reversed(prompt.texts):  # prompts in a row are sent as one
                if MARK in text if quoted_too else text.lstrip().startswith(MARK):
                    return _played(text), place
        return None

    def _turns_of_script(self, conversation: Conversation) -> tuple[Sequence[Turn], int] | None:
        for place, prompt in conversation.prompts():
            for each in self.script.match:
                if each.contains in prompt.text:
                    return each.turns, place
        if self.script.demo and not self.script.turns:
            return None
        return self.script.turns, -1

    def _made_before(self, conversation: Conversation) -> int:
        """Return how often the same request was made before."""
        tools = [each.get("name") for each in conversation.tools]
        request = json.dumps([conversation.messages, tools])
        name = hashlib.sha256(request.encode()).hexdigest()
        self._made[name] += 1
        return self._made[name] - 1


def pick(turns: Sequence[Turn], answered: int, again: int) -> Turn | None:
    """Return the turn after this many answers. A failure leaves no answer, so the same request,
    repeated, gets the next turn; if nothing but failures follows, the last one stays."""
    groups: list[list[Turn]] = [[]]
    for turn in turns:
        groups[-1].append(turn)
        if not turn.fails:
            groups.append([])
    group = groups[answered] if answered < len(groups) else []
    return group[min(again, len(group) - 1)] if group else None


def _played(text: str) -> Sequence[Turn]:
    begin = text.index(MARK)
    try:
        value, _ = json.JSONDecoder().raw_decode(text, begin)
    except (ValueError, RecursionError) as error:
        raise ScriptError(f"the script in the prompt is not JSON: {error}") from None
    return turns_of(value.get("play"), "play")


def _filled(turn: Turn, conversation: Conversation) -> Turn:
    """Replace $prompt and $result in a turn."""
    values = {"$prompt": conversation.last("user"), "$result": conversation.last("result")}

    def fill(text: str, escape: bool = False) -> str:
        for word, meant in values.items():
            if word in text:
                text = text.replace(word, json.dumps(meant)[1:-1] if escape else meant)
        return text

    calls = tuple(each._replace(arguments=fill(each.arguments, True)) for each in turn.calls)
    return turn._replace(text=fill(turn.text), thought=fill(turn.thought), calls=calls)
