"""Pictures of an agent's in a browser: small in the transcript, whole in a window, and nothing but
pictures."""

from base64 import b64encode
from io import BytesIO

import pytest
from PIL import Image
from playwright.sync_api import Locator, Page, expect

from rookery.core.json import Json
from tests.export.sessions import png
from tests.page.conftest import PHONE, Site
from tests.page.test_live import AT_END, play, said, settled

LOADED = "(image) => image.complete && image.naturalWidth > 0"


def huge() -> bytes:
    out = BytesIO()
    Image.new("1", (10_000, 10_000)).save(out, "PNG")
    return out.getvalue()


def gif() -> bytes:
    out = BytesIO()
    frames = [Image.new("RGB", (60, 40), (shade, 60, 60)) for shade in (0, 90, 180)]
    frames[0].save(out, "GIF", save_all=True, append_images=frames[1:], duration=50, loop=0)
    return out.getvalue()


def image(data: bytes, mime: str = "image/png", **more: str) -> Json:
    return {"type": "image", "mimeType": mime, "data": b64encode(data).decode(), **more}


def answered(block: Json) -> Json:
    return {"update": {"sessionUpdate": "agent_message_chunk", "content": block}}


def shot(name: str, *pictures: Json) -> Json:
    content = [{"type": "content", "content": each} for each in pictures]
    call = {"toolCallId": name, "title": f"Screenshot {name}", "kind": "other"}
    update = {"sessionUpdate": "tool_call", "status": "completed", **call, "content": content}
    return {"update": update}


def drawn(page: Page) -> Locator:
    return page.locator("#transcript .thumb img[src]")


def test_a_picture_is_small_until_it_is_opened(site: Site) -> None:
    name = site.session(title="Takes a screenshot")
    page = site.page(f"/sessions/{name}")
    site.say(name, play(shot("a", image(png(1600, 1000))), {"text": "This is the page."}))
    expect(said(page, "This is the page.")).to_be_visible()
    small = drawn(page)
    expect(small).to_have_count(1)
    page.wait_for_function(f"() => ({LOADED})(document.querySelector('.thumb img'))")
    box = small.bounding_box()
    assert box is not None
    assert (box["width"], box["height"]) == (322, 202)  # with its border
    expect(page.locator("figcaption")).to_contain_text("PNG · 1,600 × 1,000")

    page.locator("#transcript .thumb").click()
    window = page.locator("dialog.picture")
    expect(window.locator("img")).to_be_in_viewport(ratio=1)
    window.get_by_role("button", name="As large as it is").click()
    assert window.locator("img").evaluate("(image) => image.clientWidth") == 1600
    with page.expect_download() as saved:
        window.get_by_role("button", name="Save").click()
    assert saved.value.suggested_filename == "picture.png"
    page.keyboard.press("Escape")
    expect(window).to_have_count(0)
    expect(page.locator("#transcript .thumb")).to_be_focused()
    settled(page)


def test_what_is_no_picture_is_never_drawn(site: Site) -> None:
    site.expected = ("ERR_BLOCKED", "Not allowed to navigate")
    svg = (
        b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'><script>alert(1)</script></svg>"
    )
    page_of = b"<!doctype html><script>alert(1)</script>"
    data_url = "data:text/html,<script>alert(1)</script>"
    cut = png(80, 60)[:60] + b"\0" * 200  # a browser draws what there is of it
    broken = b"RIFF\0\0\0\0WEBPVP8X" + bytes(40)
    name = site.session(title="Sends anything")
    page = site.page(f"/sessions/{name}")
    page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    site.say(
        name,
        play(
            answered(image(svg)),
            answered(image(svg, "image/svg+xml")),
            answered(image(page_of, "text/html")),
            answered(image(huge())),
            answered(image(cut)),
            answered(image(broken, "image/webp")),
            answered(image(png(), uri=data_url)),
            answered({"type": "resource_link", "uri": data_url, "name": "a.png"}),
            {"text": f"![one]({data_url}) ![two](data:image/png;base64,AAAA) and that was all."},
        ),
    )
    expect(page.locator("#transcript .prose").get_by_text("that was all")).to_be_visible()
    why = page.locator("#transcript .attached").all_inner_texts()
    assert sum("not a picture that can be shown" in each for each in why) == 3
    assert sum("too large to show: 10,000 × 10,000" in each for each in why) == 1
    expect(page.get_by_text("This picture cannot be shown. Save it")).to_have_count(1)
    expect(drawn(page)).to_have_count(2)
    with page.expect_download() as saved:
        page.locator("[data-do=picture-save]").first.click()
    assert saved.value.suggested_filename == "picture.bin"
    assert saved.value.path().read_bytes() == svg
    assert all(not each.startswith("data:") for each in requested)
    links = page.locator("#transcript a").evaluate_all("(all) => all.map((each) => each.href)")
    assert all(not each.startswith("data:") for each in links)


def test_many_pictures_of_a_turn_are_fetched_where_they_are_looked_at(site: Site) -> None:
    shots = [shot(str(n), image(png(1200, 800 + n, (n, 90, 120)))) for n in range(50)]
    steps = [*shots, answered(image(gif(), "image/gif")), {"text": "All of them."}]
    name = site.session({"turns": [steps]}, title="Takes many")
    page = site.page(f"/sessions/{name}", viewport=PHONE, has_touch=True)
    fetched: set[str] = set()
    page.on("request", lambda each: fetched.add(each.url) if "/blobs/" in each.url else None)
    site.say(name, "go")
    expect(said(page, "All of them.")).to_be_in_viewport()
    expect(page.locator("#transcript .thumb")).to_have_count(51)
    page.wait_for_function(f"() => ({LOADED})([...document.querySelectorAll('.thumb img')].at(-1))")
    page.wait_for_function(AT_END)
    assert len(fetched) < 30
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]

    page.locator("#scroll").evaluate("(all) => { all.scrollTop = 0; }")
    page.wait_for_function(f"() => ({LOADED})(document.querySelector('.thumb img'))")
    page.wait_for_function("() => ![...document.querySelectorAll('.thumb img')].at(-1).src")
    settled(page)
