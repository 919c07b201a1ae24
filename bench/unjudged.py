"""Our own agent with the question whether it may left out, as a program: for `judgement.py` alone.
Nothing of the product can be set so."""

from collections.abc import Sequence
from typing import Any

from rookery.agent import server
from rookery.agent.process import sdk_import
from rookery.core.policy.auto_answer import Judgement

ALLOWED = Judgement("allow")


def main() -> None:
    sdk_import.load()
    from rookery.agent.session import auto_answer

    async def judge_all(_session: Any, actions: Sequence[Any], _child: str = "") -> list[Judgement]:
        return [ALLOWED] * len(actions)

    auto_answer.judge_all = judge_all  # type: ignore[assignment]
    server.main([])


if __name__ == "__main__":
    main()
