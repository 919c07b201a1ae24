"""What the page offers by name: the menus of a session, in the list and in its bar, and its slash
commands."""

from collections.abc import Sequence

from playwright.sync_api import Page, expect

from tests.golden.files import Golden
from tests.page.conftest import Site

WORDS = """(rows) => rows.map((row) => row.localName === "h3" ? `${row.textContent}:`
  : [...row.children].map((part) => part.textContent).filter(Boolean).join(": "))"""


def menu(page: Page) -> list[str]:
    """Of the open menu, which is closed."""
    expect(page.locator("dialog.menu[open]")).to_be_visible()
    found: list[str] = page.eval_on_selector_all("dialog.menu[open] .rows > *", WORDS)
    page.keyboard.press("Escape")
    expect(page.locator("dialog.menu[open]")).to_have_count(0)
    return found


def of_a_row(page: Page, title: str) -> list[str]:
    row = page.locator("#list li", has_text=title)
    row.get_by_role("button", name="Actions").click()
    return menu(page)


def of_the_bar(page: Page) -> list[str]:
    page.get_by_role("button", name="More actions").click()
    return menu(page)


def offered(page: Page) -> list[str]:
    page.get_by_label("Prompt", exact=True).fill("")
    page.keyboard.type("/")
    expect(page.locator("ul.offers [role=option]").first).to_be_visible()
    found: list[str] = page.eval_on_selector_all("ul.offers [role=option]", WORDS)
    page.get_by_label("Prompt", exact=True).fill("")
    return found


def listed(**menus: Sequence[str]) -> str:
    texts = (f"{name.replace('_', ' ')}:\n" + "\n".join(rows) for name, rows in menus.items())
    return "\n\n".join(texts) + "\n"


def test_the_page_offers_what_it_did(site: Site, golden: Golden) -> None:
    session = site.session(title="Heron")
    page = site.page("/")
    row = of_a_row(page, "Heron")
    page.goto(f"{site.served.address}/sessions/{session}")
    new, slash = of_the_bar(page), offered(page)
    site.say(session, "hello")
    expect(page.locator("#bar .bar[data-turn='1']:not([data-running])")).to_be_visible()
    golden.hold(
        {
            "faces/page.txt": listed(
                In_the_list=row,
                New_session=new,
                After_a_turn=of_the_bar(page),
                Slash_commands=slash,
            )
        }
    )
