"""How often a worker does its slow checks: often while something goes on, else seldom, so that an
idle session costs next to nothing. An event, a command, a connection or a child that ended cuts the
long wait short (`stir`)."""

import asyncio

OFTEN = 2.0
"""Seconds between two looks."""

SELDOM = 15.0
"""The same while the session is idle and no client is attached."""


class Pace:
    def __init__(self) -> None:
        self._stirred = asyncio.Event()

    def stir(self) -> None:
        """Something happened: the next look is at most OFTEN away."""
        self._stirred.set()

    async def next_look(self, *, at_rest: bool, due: float | None, often: float = OFTEN) -> None:
        """`due`: seconds until something is to be done by time; None: nothing is."""
        self._stirred.clear()
        longest = SELDOM if due is None else min(SELDOM, due)
        if at_rest and longest > often:
            try:
                async with asyncio.timeout(longest):
                    await self._stirred.wait()
            except TimeoutError:
                return
        await asyncio.sleep(often)
