"""torch.futures: results that are yet to come, as in concurrent.futures, under PyTorch's names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent import futures
from typing import Any


class Future(futures.Future[Any]):
    """A result that another part of the program sets."""

    def wait(self) -> Any:
        """Blocks until the result is there.

        Returns: the result.
        Raises: the exception that was set instead of one.
        """
        return self.result()

    def value(self) -> Any:
        """The result, which must be there; as `wait`.

        Returns: the result.
        """
        return self.result(timeout=0)

    def then(self, callback: Callable[[Any], Any]) -> Future:
        """Goes on with a function when the result is there.

        callback: of this future.
        Returns: the future of what the function returns.
        """
        following = Future()

        def go_on(done: futures.Future[Any]) -> None:
            try:
                following.set_result(callback(done))
            except Exception as error:
                following.set_exception(error)

        self.add_done_callback(go_on)
        return following


def wait_all(futures: Sequence[Future]) -> list[Any]:
    """Blocks until all results are there.

    futures: the futures.
    Returns: their results.
    """
    return [each.wait() for each in futures]


def collect_all(futures: Sequence[Future]) -> Future:
    """Waits for several futures; blocks until their results are there.

    futures: the futures.
    Returns: a future of the list of them.
    """
    wait_all(futures)
    whole = Future()
    whole.set_result(list(futures))
    return whole


__all__ = ["Future", "collect_all", "wait_all"]
