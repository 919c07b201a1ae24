"""What an overwritten file costs is for its fate to say; and every danger of a line is named."""

import pytest

from rookery.core.dangers.places import Ground
from rookery.core.policy.danger import judged, overwritten

GROUND = Ground(("/home/me/project",), "/home/me")
FATES = {"/home/me/project/kept": "kept", "/home/me/project/lost": "lost"}


def seen(line: str, fates: dict[str, str] | None) -> tuple[str, str]:
    call = {"kind": "execute", "rawInput": {"command": line}}
    return judged(call, GROUND._replace(fates=fates))


@pytest.mark.parametrize(
    "form",
    [
        *("echo x > {}", "echo x >| {}", "echo x &> {}", ": > {}", "tee {} < in", "cp in {}"),
        *("mv in {}", "ln -sf in {}", "install in {}", "dd if=in of={}", "sort -o {} in"),
        *("curl -o {} https://x", "sed -i d {}", "sed -i /x/d {}", "rm {}", "unlink {}"),
        *("perl -ni -e 'print if /x/' {}", "python -c \"open('{}', 'w')\"", "tar cf {} in"),
        *("node -e \"fs.unlinkSync('{}')\"", "ruby -e \"File.delete('{}')\"", "ex -sc '%d|x' {}"),
        "awk 'BEGIN {{ print > \"{}\" }}'",
    ],
)
def test_an_overwritten_file_costs_what_its_fate_says(form: str) -> None:
    path = GROUND.roots[0]
    found = overwritten({"rawInput": {"command": form.format("kept")}}, GROUND)
    assert found[0].path.startswith(path)
    danger, risk = seen(form.format("kept"), FATES)
    assert (danger, risk.endswith(" kept")) == ("", True)
    danger, risk = seen(form.format("lost"), FATES)
    assert (danger.endswith("a file that nothing brings back (lost)"), risk) == (True, "")
    new = {f"{path}/fresh": "new", f"{path}/fresh/in": "new"}
    assert seen(form.format("fresh"), new) == ("", "")


@pytest.mark.parametrize(
    "line",
    [
        *("echo x >> lost", "tee -a lost", "cp -n in lost", "mv -n in lost", "ln -s in lost"),
        *("sed -i s/a/b/ lost", "sed -i '1i x' lost", "perl -pi -e 's/a/b/' lost", "touch lost"),
        *("cat lost", "python -c \"open('lost')\"", "python -c \"open('lost', 'a')\""),
        *("{ echo a; echo b; } >> lost", "sort lost", "tar xf lost", "diff lost kept"),
    ],
)
def test_what_adds_edits_or_reads_overwrites_nothing(line: str) -> None:
    assert seen(line, FATES) == ("", "")


@pytest.mark.parametrize(
    "line", [": > f", "> f", "tee f < /dev/null", "cat /dev/null > f", "sort f > f", "sed -i d f"]
)
def test_where_nobody_looked_what_is_meant_to_empty_a_file_is_dangerous(line: str) -> None:
    assert seen(line, None) == ("empties a file (f)", "")
    assert seen("echo x > f", None) == ("", "")


def test_every_danger_of_a_line_is_named() -> None:
    both = "deletes files permanently (rm -rf) and rewrites a remote's history (git push --force)"
    assert seen("rm -rf build && git push --force", None)[0] == both
    assert seen("rm -rf a; rm -rf b", None)[0] == "deletes files permanently (rm -rf)"
    many = "; ".join(f"echo x > /srv/{number}" for number in range(9))
    assert all(f"(/srv/{number})" in seen(many, None)[0] for number in range(9))
    sql = "psql -c 'DROP TABLE a; DELETE FROM b'"
    assert seen(sql, None)[0] == (
        "drops data from a database (DROP) and deletes rows (DELETE FROM)"
    )
