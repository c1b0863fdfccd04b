"""A real browser without a window, steered through its debugging pipe.

Messages are JSON texts that end with a zero byte: the browser reads its file descriptor 3 and
writes its descriptor 4.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
LIMIT = 60.0
"""Seconds to wait for an answer."""


def browser() -> str:
    """Return the program; fail where it is not installed."""
    for name in NAMES:
        found = shutil.which(name)
        if found:
            return found
    raise RuntimeError("Chromium is not installed (Debian package: chromium)")


class Tab:
    """One page in the browser; `troubles` collects errors and warnings of its console."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to, self._from = to_browser, from_browser
        self._rest = b""
        self._number = 0
        self._session: str | None = None
        self._events: list[dict[str, Any]] = []
        self.troubles: list[str] = []
        self.requests: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the debugging protocol and return its result."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]

    def open(self, page: Path, width: int = 800, height: int = 600, dark: bool = False) -> None:
        """Show a page from a file and wait until it is there."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.resize(width, height)
        self._events.clear()
        self.call("Page.navigate", url=page.as_uri())
        self._await_event("Page.loadEventFired")

    def resize(self, width: int, height: int) -> None:
        """Give the page another size."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def value(self, expression: str) -> Any:
        """Return the value of an expression of JavaScript; a promise is awaited."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def settle(self) -> None:
        """Wait for the next two pictures."""
        self.value("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))")

    def until(self, expression: str) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + LIMIT
        while not self.value(expression):
            assert time.monotonic() < end, f"never true: {expression}"
            time.sleep(0.02)

    def key(self, key: str, code: str = "", text: str = "") -> None:
        """Press and release a key."""
        fields = {"key": key, "code": code or key}
        down = {**fields, "text": text} if text else fields
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **down)
        self.call("Input.dispatchKeyEvent", type="keyUp", **fields)

    def drag(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        """Drag with the left button."""
        self._mouse("mousePressed", start, button="left", buttons=1, clickCount=1)
        for step in (0.5, 1.0):
            x, y = (round(a + step * (b - a)) for a, b in zip(start, end, strict=True))
            self._mouse("mouseMoved", (x, y), button="left", buttons=1)
        self._mouse("mouseReleased", end, button="left", buttons=0, clickCount=1)

    def wheel(self, place: tuple[int, int], amount: int) -> None:
        """Turn the wheel."""
        self._mouse("mouseWheel", place, deltaX=0, deltaY=amount)

    def pinch(self, middle: tuple[int, int], gaps: tuple[int, int]) -> None:
        """Put two fingers down, bring them from one distance to another, and lift them."""
        self.call("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)
        x, y = middle
        for kind, gap in zip(
            ("touchStart", "touchMove", "touchMove"), (gaps[0], *gaps), strict=True
        ):
            fingers = [{"x": x + way * gap / 2, "y": y, "id": way + 1} for way in (-1, 1)]
            self.call("Input.dispatchTouchEvent", type=kind, touchPoints=fingers)
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        self.call("Emulation.setTouchEmulationEnabled", enabled=False)

    def picture(self) -> bytes:
        """Return a PNG of the page."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def _mouse(self, kind: str, place: tuple[int, int], **fields: Any) -> None:
        self.call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], **fields)

    def _await_event(self, name: str) -> None:
        while not any(event["method"] == name for event in self._events):
            self._read()

    def _read(self) -> dict[str, Any]:
        """Return the next message; events are kept, and troubles noted."""
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._from], [], [], LIMIT)
            assert ready, "the browser does not answer"
            more = os.read(self._from, 1 << 16)
            assert more, "the browser has ended"
            self._rest += more
        text, _, self._rest = self._rest.partition(b"\0")
        message = json.loads(text)
        if "method" in message:
            self._events.append(message)
            self._note(message)
        return message

    def _note(self, event: dict[str, Any]) -> None:
        parameters = event["params"]
        match event["method"]:
            case "Runtime.exceptionThrown":
                self.troubles.append(json.dumps(parameters["exceptionDetails"]))
            case "Runtime.consoleAPICalled":
                self.troubles.append(json.dumps(parameters["args"]))
            case "Log.entryAdded":
                self.troubles.append(parameters["entry"]["text"])
            case "Network.requestWillBeSent":
                self.requests.append(parameters["request"]["url"])
            case _:
                pass


@contextmanager
def tab() -> Generator[Tab]:
    """Start a browser of its own, give a tab of it, and end it."""
    profile = Path(tempfile.mkdtemp(prefix="chainform-chromium-"))
    read_theirs, write_ours = os.pipe()
    read_ours, write_theirs = os.pipe()
    command = [
        browser(),
        "--headless=new",
        "--no-sandbox",
        "--remote-debugging-pipe",
        "--enable-unsafe-swiftshader",
        "--use-angle=swiftshader",
        "--disable-background-networking",
        "--no-first-run",
        f"--user-data-dir={profile}",
    ]
    # The browser wants its ends of the pipes at the descriptors 3 and 4.
    shell = f'exec 3<&{read_theirs} 4>&{write_theirs}; exec "$@"'
    with (profile / "log").open("wb") as log:
        process = subprocess.Popen(
            ["bash", "-c", shell, "bash", *command],
            stdout=log,
            stderr=log,
            pass_fds=(read_theirs, write_theirs),
        )
    os.close(read_theirs)
    os.close(write_theirs)
    try:
        yield Tab(write_ours, read_ours)
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        os.close(write_ours)
        os.close(read_ours)
        shutil.rmtree(profile, ignore_errors=True)
