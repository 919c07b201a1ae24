"""What the critic hears of the turn machine, and what follows from it in the same step."""

from rookery.core.critic import loop as critic_loop
from rookery.core.critic.loop import Loop
from rookery.core.limits import CriticPolicy
from rookery.core.turn import messages as turns

type Effect = turns.Effect | critic_loop.Effect


def overhear(
    loop: Loop, given: turns.Input, effects: list[turns.Effect], now: float, policy: CriticPolicy
) -> tuple[Loop, list[Effect]]:
    """The turn machine's effects, each with what the critic adds to it."""
    given_up: list[critic_loop.Effect] = []
    if isinstance(given, turns.CancelWanted):
        loop, given_up = critic_loop.step(loop, critic_loop.CancelWanted(), now, policy)
    found: list[Effect] = []
    for place, effect in enumerate(effects):
        if not isinstance(effect, turns.Append):
            found.append(effect)
            continue
        draft, followed = effect.draft, any(_opens(each) for each in effects[place + 1 :])
        heard = critic_loop.heard(draft.update, followed=followed)
        if heard is None:
            found.append(effect)
            continue
        loop, more = critic_loop.step(loop, heard, now, policy)
        if isinstance(heard, critic_loop.Ended) and critic_loop.follows(loop, more):
            draft = draft._replace(update={**draft.update, "critic": True})
        found += [effect._replace(draft=draft), *more]
    return loop, [*found, *given_up]


def _opens(effect: turns.Effect) -> bool:
    """A prompt that opens a turn."""
    return isinstance(effect, turns.Append) and isinstance(
        critic_loop.heard(effect.draft.update), critic_loop.Began
    )
