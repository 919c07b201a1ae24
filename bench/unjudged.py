"""Our own agent with the question whether it may left out, as a program: for `judgement.py` alone.
Nothing of the product can be set so."""

from collections.abc import Sequence
from typing import Any

from rookery.agent import sdk, serving
from rookery.core.judgement import Judgement

ALLOWED = Judgement("allow")


def main() -> None:
    sdk.load()
    from rookery.agent import judgement

    async def judge_all(_session: Any, actions: Sequence[Any], _child: str = "") -> list[Judgement]:
        return [ALLOWED] * len(actions)

    judgement.judge_all = judge_all  # type: ignore[assignment]
    serving.main([])


if __name__ == "__main__":
    main()
