"""Chromium without a window, driven by its DevTools protocol through a pair of pipes."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections import deque

from .tools import expect

# Keys by the names that `KeyboardEvent.key` has, with the codes that Chromium wants for those that write nothing.
CODES = {"ArrowLeft": 37, "ArrowRight": 39, "ArrowUp": 38, "ArrowDown": 40, "Home": 36, "End": 35, "PageUp": 33, "PageDown": 34,
         "Escape": 27, "Tab": 9, "Enter": 13, " ": 32}
SHIFT = 8


def is_there():
    return shutil.which("chromium") is not None


class Browser:
    """A headless Chromium; use it in a `with` statement."""

    def __init__(self):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        ours, theirs = os.pipe(), os.pipe()
        # Chromium reads descriptor 3 and writes 4.
        command = (f"exec chromium --headless=new --no-sandbox --disable-gpu --mute-audio --remote-debugging-pipe "
                   f"--user-data-dir={self.profile.name} --hide-scrollbars --force-color-profile=srgb about:blank "
                   f"3<&{ours[0]} 4>&{theirs[1]}")
        self.process = subprocess.Popen(["bash", "-c", command], pass_fds=(ours[0], theirs[1]), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(ours[0])
        os.close(theirs[1])
        self.output, self.input = ours[1], theirs[0]
        self.number, self.answers, self.pages = 0, {}, {}
        self.changed = threading.Condition()
        threading.Thread(target=self._listen, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close", seconds=5)
        except Exception:  # it ends in any case
            pass
        self.process.terminate()
        self.process.wait()
        self.profile.cleanup()

    def _listen(self):
        rest = b""
        while data := os.read(self.input, 1 << 20):
            *messages, rest = (rest + data).split(b"\0")
            for message in map(json.loads, messages):
                with self.changed:
                    if "id" in message:
                        self.answers[message["id"]] = message
                    elif page := self.pages.get(message.get("sessionId")):
                        page.events.append((message["method"], message["params"]))
                    self.changed.notify_all()

    def call(self, method, session=None, seconds=60, **parameters):
        """The result of a command; an error of the protocol raises."""
        with self.changed:
            self.number += 1
            number = self.number
        message = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        with self.changed:
            expect(self.changed.wait_for(lambda: number in self.answers, seconds), f"{method} was not answered in {seconds} s")
            answer = self.answers.pop(number)
        expect("error" not in answer, f"{method}: {answer.get('error')}")
        return answer["result"]

    def open(self, url, width=1280, height=900, dark=False, ratio=1):
        """A new page, loaded."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session)
        self.pages[session] = page
        for domain in ("Page", "Runtime", "Log", "Audits"):
            page.call(f"{domain}.enable")
        page.shape(width, height, dark, ratio)
        page.call("Page.navigate", url=url)
        page.wait("document.readyState === 'complete'")
        return page


class Page:
    """One page of a browser."""

    def __init__(self, browser, session):
        self.browser, self.session = browser, session
        self.events = deque(maxlen=10000)

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def shape(self, width, height, dark=False, ratio=1):
        """Sets the size of the window, in CSS pixels, and the colours that its user prefers."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=ratio, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def value(self, expression, **options):
        """The value of an expression of JavaScript, awaited if it is a promise."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True, userGesture=True,
                           **options)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']['exception'].get('description')}")
        return result["result"].get("value")

    def wait(self, expression, seconds=20):
        """Waits until an expression is true."""
        end = time.monotonic() + seconds
        while not self.value(expression):
            expect(time.monotonic() < end, f"not so in {seconds} s: {expression}")
            time.sleep(0.02)

    def mouse(self, kind, x, y, button="none", **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, **more)

    def click(self, x, y):
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, "left", buttons=1, clickCount=1)
        self.mouse("mouseReleased", x, y, "left", clickCount=1)

    def press(self, key, modifiers=0, release=True, place=""):
        """Presses a key by its name; `place` is what the keyboard calls it whatever it writes, such as KeyJ."""
        text = key if len(key) == 1 else ""
        number = CODES.get(key, ord(key.upper()) if key.isascii() and key.isalnum() and len(key) == 1 else 0)
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=text, code=place, windowsVirtualKeyCode=number,
                  modifiers=modifiers)
        if release:
            self.release(key)

    def release(self, key):
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=CODES.get(key, 0))

    def box(self, selector):
        """The rectangle of an element in the window: left, top, width, height."""
        return self.value(f"(() => {{ const b = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
                          " return [b.left, b.top, b.width, b.height]; })()")

    def picture(self, path):
        """Writes what the window shows as PNG."""
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def complaints(self):
        """Every dialog, message, error and breach of the policy so far."""
        found = []
        for method, parameters in list(self.events):
            if method == "Page.javascriptDialogOpening":
                found.append(f"dialog: {parameters['message']}")
            elif method == "Runtime.exceptionThrown":
                found.append(f"exception: {parameters['exceptionDetails'].get('exception', {}).get('description')}")
            elif method == "Runtime.consoleAPICalled":
                found.append(f"console: {[one.get('value') for one in parameters['args']]}")
            elif method == "Log.entryAdded":
                found.append(f"log: {parameters['entry']['text']}")
            elif method == "Audits.issueAdded":
                found.append(f"issue: {json.dumps(parameters['issue'])[:300]}")
        return found
