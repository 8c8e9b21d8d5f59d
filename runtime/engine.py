"""Work on tasks in this process, in several, or on a Ray cluster: the same results in the same order.

A task is a small value (paths and parameters) and a function of it that reads files, writes files of its own and returns a
small value. What a task writes may depend on the task alone, so that no number of workers and no engine changes a byte.
"""

import ctypes
import multiprocessing
import os
import resource
import signal
import socket
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, TypeVar

from runtime.faults import EnvironmentFault, StageFault
from runtime.placement import Placement

T = TypeVar("T")
R = TypeVar("R")

LEAST_MEMORY = 600_000_000  # bytes of addresses; some 200 MB are libraries, and each thread sets 128 MB aside
AHEAD = 2  # tasks that wait behind each worker: enough to keep it busy, few enough that results never pile up
PR_SET_PDEATHSIG = 1  # linux/prctl.h
RAY = "ray"
ANSWER = 10.0  # seconds in which the address of a cluster has to answer


def each(function: Callable[[T], R], tasks: Sequence[T], placement: Placement) -> Iterator[R]:
    """`function` of every task, in the order of the tasks. `function` is a function of a module, tasks and results can be pickled.

    Raises what a task raises, for the first task that does, and StageFault where a worker dies.
    """
    if placement.engine == RAY:
        return _on_ray(function, tasks, placement)
    workers = min(placement.workers, len(tasks))
    return _in_processes(function, tasks, workers, placement.threads) if workers > 1 else map(function, tasks)


@contextmanager
def kept(placement: Placement) -> Iterator[None]:
    """Workers, or the connection to Ray, that `each` starts within stay until the end: for a stage of several sets of tasks."""
    if placement.engine == RAY:
        with _connected(placement):
            yield
    elif placement.workers > 1:
        with _started(placement.workers, placement.threads) as pool:
            _KEPT.append(pool)
            try:
                yield
            finally:
                _KEPT.remove(pool)
    else:
        yield


_KEPT: list[ProcessPoolExecutor] = []


@contextmanager
def _started(workers: int, threads: int) -> Iterator[ProcessPoolExecutor]:
    _check_address_space()
    context = multiprocessing.get_context("spawn")  # forking a process in which libraries run threads can stop it dead
    with _threads_of_children(threads):
        pool = ProcessPoolExecutor(workers, context, _begin, (os.getpid(),))
        try:
            yield pool
        finally:
            # Futures that are cancelled one by one can keep the pool of Python up to 3.11.2 from ending (CPython issue 94440).
            pool.shutdown(cancel_futures=True)


def _check_address_space() -> None:
    """Raise StageFault where a pool could not start its threads: it would wait for them for ever."""
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY and limit < LEAST_MEMORY:
        raise StageFault(
            f"a process may have {limit // 10**6} MB of memory (ulimit -v), and workers need {LEAST_MEMORY // 10**6} MB each",
            where="placement.yaml",
            reason="workers whose threads do not start wait for each other for ever",
            fix=f"ulimit -v {LEAST_MEMORY // 1000}, or set launch.workers to 1",
        )


def _in_processes(function: Callable[[T], R], tasks: Sequence[T], workers: int, threads: int) -> Iterator[R]:
    with nullcontext(_KEPT[-1]) if _KEPT else _started(workers, threads) as pool:
        waiting: deque[Future[R]] = deque()
        try:
            for task in tasks:
                waiting.append(pool.submit(function, task))
                if len(waiting) >= workers * AHEAD:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BrokenProcessPool:
            raise StageFault(
                "a worker process ended before its work did",
                reason="the system kills a process when memory runs out",
                fix="give the machine more memory, or set launch.workers to fewer",
            ) from None


class _threads_of_children:
    """Bound the threads that polars takes in processes started within; the parent's own are as they were."""

    def __init__(self, threads: int) -> None:
        self._threads, self._before = threads, os.environ.get("POLARS_MAX_THREADS")

    def __enter__(self) -> None:
        os.environ["POLARS_MAX_THREADS"] = str(self._threads)

    def __exit__(self, *_: object) -> None:
        if self._before is None:
            del os.environ["POLARS_MAX_THREADS"]
        else:
            os.environ["POLARS_MAX_THREADS"] = self._before


def _begin(parent: int) -> None:
    """A worker ends with the stage that started it, and leaves an interrupt to it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _on_ray(function: Callable[[T], R], tasks: Sequence[T], placement: Placement) -> Iterator[R]:
    with _connected(placement) as ray:
        yield from _on_cluster(ray, function, tasks)


@contextmanager
def _connected(placement: Placement) -> Iterator[Any]:
    """Ray, started or connected to where it is not yet."""
    ray = _ray()
    if ray.is_initialized():
        yield ray
        return
    if placement.ray_address:
        _reach(placement.ray_address)
    own = {"address": "local", "num_cpus": placement.workers, "include_dashboard": False}  # not one that happens to run here
    cluster = {"address": placement.ray_address} if placement.ray_address else own
    code = {"env_vars": {"PYTHONPATH": os.pathsep.join(sys.path)}}  # every node sees the project and its environment under the same path
    try:
        ray.init(log_to_driver=False, configure_logging=False, runtime_env=code, **cluster)
    except (ValueError, ConnectionError) as error:
        raise _unreached(placement.ray_address, error) from None
    try:
        yield ray
    finally:
        ray.shutdown()


def _reach(address: str) -> None:
    """Raise EnvironmentFault where nothing listens at `host:port`, which Ray would try for minutes. Other forms are Ray's to judge."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), ANSWER).close()
    except (OSError, OverflowError, UnicodeError) as error:
        raise _unreached(address, error) from None


def _unreached(address: str | None, error: Exception) -> EnvironmentFault:
    return EnvironmentFault(
        f"no Ray cluster lets this stage in at {address}" if address else f"Ray cannot be started: {error}",
        where="placement.yaml",
        reason=str(error),
        fix="start it (`ray start --head`), mend launch.ray_address, or set launch.engine to processes; where it asks for a token, as "
        "Ray's own clusters do from 2.59 on, set RAY_AUTH_MODE=token in the environment",
    )


def _on_cluster(ray: Any, function: Callable[[T], R], tasks: Sequence[T]) -> Iterator[R]:
    remote = ray.remote(num_cpus=1, max_retries=0)(_in_folder)
    at_once = max(int(ray.cluster_resources().get("CPU", 1)), 1) * AHEAD
    waiting: deque[Any] = deque()
    try:
        for task in tasks:
            waiting.append(remote.remote(str(Path.cwd()), function, task))
            if len(waiting) >= at_once:
                yield _result(ray, waiting.popleft())
        while waiting:
            yield _result(ray, waiting.popleft())
    finally:
        for one in waiting:
            ray.cancel(one, force=True)


def _ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    # MindSpore needs it and sets it itself; once Ray has loaded the other implementation, MindSpore cannot be imported.
    os.environ.setdefault("PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION", "python")
    try:
        import ray  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise EnvironmentFault(
            "launch.engine is ray, but Ray is not installed", where="placement.yaml", fix="pip install 'mindspec[ray]', or use processes"
        ) from None
    return ray


def _in_folder(folder: str, function: Callable[[T], R], task: T) -> R:
    """Every node sees the experiment under the same path; a task's own paths are relative to it."""
    os.chdir(folder)
    return function(task)


def _result(ray: Any, reference: Any) -> Any:
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, StageFault):
            raise error.cause from None
        raise
    except ray.exceptions.WorkerCrashedError:
        raise StageFault("a Ray worker ended before its work did", reason="memory may have run out", fix="see Ray's own logs") from None
