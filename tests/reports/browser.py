"""Pages in a real browser: Chromium renders them without a screen, and hands the document back."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--virtual-time-budget=10000",
    "--dump-dom",
)
_LISTEN = """<script>
const seen = [];
addEventListener("error", (event) => seen.push(String(event.message)));
addEventListener("unhandledrejection", (event) => seen.push(String(event.reason)));
console.error = (...words) => seen.push(words.join(" "));
</script>"""


def rendered(page: str, folder: Path, *, then: str = "") -> tuple[str, list[str]]:
    """The document after its scripts, and ``then``, have run; and the errors that were seen on the way."""
    file = folder / "page.html"
    file.write_text(watched(page, then), encoding="utf-8")
    return visited(file.as_uri(), folder)


def watched(page: str, then: str = "") -> str:
    """The page with scripts that note its errors, and that do ``then`` at its end; it may await things."""
    report = f"""<script>
    (async () => {{
      try {{ {then} }} catch (error) {{ seen.push(String(error)); }}
      document.body.setAttribute("data-errors", JSON.stringify(seen));
    }})();
    </script>"""
    # from the end: a page may hold these words in its data as well
    before, after = page.rsplit("</body>", 1)
    return before.replace("<head>", f"<head>{_LISTEN}", 1) + report + "</body>" + after


def visited(url: str, folder: Path) -> tuple[str, list[str]]:
    """The document that a watched page at ``url`` came to, and its errors."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("there is no Chromium on this machine")
    call = [browser, *_FLAGS, f"--user-data-dir={folder / 'profile'}", url]
    done = subprocess.run(call, capture_output=True, text=True, timeout=300, check=True)
    found = re.search(r'data-errors="([^"]*)"', done.stdout)
    assert found is not None, f"the page's scripts did not reach their end: {done.stderr[-2000:]}"
    return html.unescape(done.stdout), json.loads(html.unescape(found.group(1)))
