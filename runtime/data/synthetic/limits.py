"""How much may be spent, and how fast it may be asked."""

import time
from collections.abc import Callable
from threading import Lock

Wait = Callable[[float], object]


class Ledger:
    """Money of one recipe, in billionths of the currency. `spent` is paid, the rest of what is admitted is reserved.

    Admitted in the order of the requests, and settled before the budget is said to be at its end, the requests that are
    admitted are the same ones however many are under way at once. Not thread-safe.
    """

    def __init__(self, budget: int | None, spent: int = 0) -> None:
        self.budget, self.spent, self.reserved = budget, spent, 0

    @property
    def exceeded(self) -> bool:
        """Whether what is paid and what is reserved is more than the budget."""
        return self.budget is not None and self.spent + self.reserved > self.budget

    def admit(self, most: int) -> bool:
        """Reserve what a request can cost; False, and nothing reserved, where the budget might be exceeded."""
        if self.budget is not None and self.spent + self.reserved + most > self.budget:
            return False
        self.reserved += most
        return True

    def settle(self, most: int, cost: int) -> None:
        """Pay for a request that was admitted with `most`."""
        self.reserved -= most
        self.spent += cost


class Pace:
    """Requests and tokens per minute, spread evenly: no burst, so that no window of a minute holds more. Thread-safe."""

    def __init__(self, requests: int | None, tokens: int | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._request = 60.0 / requests if requests else 0.0
        self._token = 60.0 / tokens if tokens else 0.0
        self._clock, self._free, self._lock = clock, 0.0, Lock()

    def wait(self, tokens: int, pause: Wait = time.sleep) -> None:
        """Come back when a request that can take `tokens` may be sent."""
        with self._lock:
            now = self._clock()
            start = max(now, self._free)
            self._free = start + max(self._request, self._token * tokens)
        if start > now:
            pause(start - now)


def backoff(attempt: int, unit: float) -> float:
    """Seconds before repetition `attempt` (from 0) with the first, `unit`: doubled each time, a minute at most."""
    return min(60.0, 0.5 * 2.0 ** min(attempt, 20)) * (0.5 + unit / 2)
