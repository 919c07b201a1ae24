"""A line is read as a shell reads it. Whatever it holds, every command that it runs is found,
nothing that it only says is one, and no text makes the reader slow or fail."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.core.command_line import shell
from rookery.core.command_line.line import read
from rookery.core.command_line.syntax import MAX_LINE_LENGTH, MOST_COMMANDS, line_of
from rookery.core.policy.danger import danger_of


def argvs(text: str) -> list[list[str]]:
    return [command.argv for command in read(text).commands if command.tokens]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a b  c", [["a", "b", "c"]]),
        ("a 'b c' \"d e\" f\\ g", [["a", "b c", "d e", "f g"]]),
        ("a'b'\"c\"d", [["abcd"]]),
        (r"$'\x61\142\u0063\n' x", [["abc\n", "x"]]),
        ('$"a" b', [["a", "b"]]),
        ("a; b & c && d || e | f |& g\nh", [[each] for each in "abcdefgh"]),
        ("a;b&c&&d", [[each] for each in "abcd"]),
        ("a # b\nc", [["a"], ["c"]]),
        ("a#b", [["a#b"]]),
        ("a \\\n b", [["a", "b"]]),
        ("X=1 Y='2 3' a b=c", [["a", "b=c"]]),
        ("(a; b)", [["a"], ["b"]]),
        ("{ a; b; }", [["a"], ["b"]]),
        ("a $(b c)", [["b", "c"], ["a", ""]]),
        ("a `b c`", [["b", "c"], ["a", ""]]),
        (r"a `b \`c\``", [["c"], ["b", ""], ["a", ""]]),
        ('a "$(b "$(c)")"', [["c"], ["b", ""], ["a", ""]]),
        ("a <(b) >(c)", [["b"], ["c"], ["a", "/dev/fd/63", "/dev/fd/63"]]),
        ("a ${X:-$(b)} $((1 + $(c)))", [["b"], ["c"], ["a", "", "0"]]),
        ("if a; then b; elif c; then d; else e; fi", [[each] for each in "abcde"]),
        ("while a; do b; done; until c; do d; done", [[each] for each in "abcd"]),
        ("for x in 1 $(a); do b $x; done", [["a"], ["b", "$x"]]),
        ("for ((i=0; i<3; i++)); do a; done", [["a"]]),
        ("case $(a) in b|c) d;; (e) f ;& *) g;; esac; h", [["a"], ["d"], ["f"], ["g"], ["h"]]),
        ("select x in a b; do c; done", [["c"]]),
        ("f() { a; }; function g { b; }; function h() ( c )", [["a"], ["b"], ["c"]]),
        ("[[ a > b && -n $(c) ]] && d", [["c"], ["d"]]),
        ("(( 1 > 2 )) || a", [["a"]]),
        ("! a | ! b", [["a"], ["b"]]),
        ("coproc a b", [["a", "b"]]),
        ("coproc N { a; }", [["a"]]),
        ("{git,push}", [["git", "push"]]),
        ("a {b,c}{1..2} '{d,e}'", [["a", "b1", "b2", "c1", "c2", "{d,e}"]]),
        ("X=push; git $X", [["git", "push"]]),
        ("C='git push'; $C origin", [["git", "push", "origin"]]),
        ('a=(git push); "${a[@]}" x', [["git", "push", "x"]]),
        ("rm$IFS-rf$IFS/x", [["rm", "-rf", "/x"]]),
        (")a; }b ;; fi c", [["a"], ["}b"], ["c"]]),
        ("", []),
        ("'a", [["a"]]),
        ('"a', [["a"]]),
        ("a $(b", [["b"], ["a", ""]]),
    ],
)
def test_commands_are_found_where_a_shell_finds_them(text: str, expected: list[list[str]]) -> None:
    assert argvs(text) == expected


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("sudo -u me -E X=1 a b", ["a", "b"]),
        ("env -i -u X Y=1 a", ["a"]),
        ("env -S 'a b'", ["a", "b"]),
        ("command -p a", ["a"]),
        ("nice -n 5 ionice -c2 a", ["a"]),
        ("timeout -k 5 10 a", ["a"]),
        ("time -p a", ["a"]),
        ("stdbuf -oL a", ["a"]),
        ("flock -n lock a", ["a"]),
        ("flock lock -c 'a b'", ["a", "b"]),
        ("watch -n 1 'a b'", ["a", "b"]),
        ("script -qec 'a b' /dev/null", ["a", "b"]),
        ("su - me -c 'a b'", ["a", "b"]),
        ("runuser -u me -- a", ["a"]),
        ("bash -euo pipefail -c 'a b'", ["a", "b"]),
        ("sh -lc 'a b'", ["a", "b"]),
        ("sh -c 'a \"$1\"' _ b", ["a", "b"]),
        ("busybox sh -c 'a b'", ["a", "b"]),
        ("eval 'a' b", ["a", "b"]),
        ("trap 'a b' EXIT", ["a", "b"]),
        ("find . -name x -exec a {} \\;", ["a", "{}"]),
        ("find . -execdir a {} +", ["a", "{}"]),
        ("echo b | xargs -n1 a", ["a", "b"]),
        ("parallel -j2 a ::: x", ["a"]),
        ("ssh -p 22 host 'a b'", ["a", "b"]),
        ("ssh host a b", ["a", "b"]),
        ("docker exec -it -u x name a b", ["a", "b"]),
        ("docker compose -f x exec -T db a", ["a"]),
        ("kubectl -n x exec pod -- a b", ["a", "b"]),
        ("chroot /x a", ["a"]),
        ("strace -f -o t a", ["a"]),
        ("git submodule foreach --recursive 'a b'", ["a", "b"]),
        ("git bisect run a", ["a"]),
        ("git -c alias.x='!a' x", ["a"]),
        ("git rebase --exec 'a b' main", ["a", "b"]),
        ("git -c core.pager='a b' log", ["a", "b"]),
        ("GIT_SSH_COMMAND='a b' git fetch", ["a", "b"]),
        ("npx -y a b", ["a", "b"]),
        ("poetry run a", ["a"]),
        ("echo a b | sh", ["a", "b"]),
        ("printf '%s\\n' 'a b' | sudo bash -s", ["a", "b"]),
        ("bash <<< 'a b'", ["a", "b"]),
        ("cat <<'E' | bash\na b\nE", ["a", "b"]),
        ("bash <(echo a b)", ["a", "b"]),
        ("echo YSBi | base64 -d | sh", ["a", "b"]),
        ("echo 'a b' > x.sh; sh x.sh", ["a", "b"]),
        ("alias x='a b'\nx", ["a", "b"]),
        ("python3 -c \"import os; os.system('a b')\"", ["a", "b"]),
        ("python3 - <<'E'\nimport subprocess\nsubprocess.run(['a', 'b c'])\nE", ["a", "b c"]),
        ("perl -e 'system(\"a b\")'", ["a", "b"]),
        ("awk 'BEGIN { system(\"a b\") }'", ["a", "b"]),
        ("sed '1e a b' f", ["a", "b"]),
        ("vim -c ':!a b' -c q", ["a", "b"]),
        ("tar xf x --to-command='a b'", ["a", "b"]),
    ],
)
def test_wrappers_are_seen_through(text: str, inner: list[str]) -> None:
    assert inner in argvs(text)


def test_redirections_are_not_words() -> None:
    [command] = read(">a 2>&1 cmd <b x >>c &>d >|e 3<>f 2>&- y").commands
    assert command.argv == ["cmd", "x", "y"]
    told = [(each.operator, each.target.text) for each in command.redirects]
    assert told == [(">", "a"), ("<", "b"), (">>", "c"), ("&>", "d"), (">|", "e"), ("<>", "f")]


def test_here_documents_are_input_not_commands() -> None:
    [cat, ls] = read("cat <<-'END' > x; ls\n\trm $(y)\n\tEND\n").commands
    assert (cat.input, cat.argv, ls.argv) == ("rm $(y)", ["cat"], ["ls"])
    assert argvs("cat <<END\n$(a)\nEND\nb") == [["cat"], ["a"], ["b"]]
    first, second = read("a <<X; b <<Y\n1\nX\n2\nY\n").commands
    assert (first.input, second.input) == ("1", "2")


def test_a_directory_change_lasts_as_long_as_its_group() -> None:
    places = {c.argv[0]: c.place for c in read("a; cd x && b; (cd /y; c); d; cd $Z; e").commands}
    assert places["a"] == ""
    assert places["b"] == "x"
    assert places["c"] == "/y"
    assert places["d"] == "x"
    assert places["e"] is None


# --- hostile texts -----------------------------------------------------------------------------

PIECES = [
    *("$(", "`", "'", '"', "{", "}", "(", ")", "((", "$((", "${", "${a:-", "<<A\n", "<<<", ">"),
    *("<(", "|", "&&", ";", "\\", "\\\n", "$'", "case x in ", "if ", "do ", "for i in ", "{a,b}"),
    *("a=$a$a;", "a=xx;a=$a$a;", "bash -c '", "eval ", "sudo ", "xargs ", "echo x|", "{ cat;}|"),
    *("{ cat;cat;}|", "alias a='a;a';a;", "find -exec ", "?(", "[[ ", "\x00", "\n", "#", "é"),
    *("python -c 'os.system(\"", "psql -c 'drop ", "ssh h '", "a=(", "${a[@]}", "coproc ", "f() "),
    *('"$(', '"`', "1>", "-r ", "<<'E'\n", "drop table ", "/*", "with a as (", "$a$ "),
]


@pytest.mark.parametrize(
    "length", [MAX_LINE_LENGTH // 8, pytest.param(MAX_LINE_LENGTH - 1, marks=pytest.mark.long)]
)
@pytest.mark.parametrize("piece", PIECES, ids=repr)
def test_a_hostile_text_is_read_in_bounded_time(piece: str, length: int) -> None:
    """A bound far above what it takes: an endless or quadratic reading would hold the worker."""
    text = (piece * (MAX_LINE_LENGTH // len(piece) + 1))[:length]
    began = time.monotonic()
    assert len(read(text).commands) <= MOST_COMMANDS
    danger_of({"kind": "execute", "rawInput": {"command": text, "sql": text, "code": text}}, [], "")
    shell.suspects(text)
    shell.names(text)
    assert time.monotonic() - began < 60


def test_an_incomplete_line_is_flagged_and_its_commands_guessed() -> None:
    deep = "$(" * 100 + "rm -rf x" + ")" * 100
    assert not read(deep).whole
    assert "judged" in danger_of({"kind": "execute", "rawInput": {"command": deep}}, [], "")
    assert "rm -rf x" in shell.suspects(deep)


@given(st.lists(st.sampled_from([*PIECES, "rm -rf x", " ", "git push"]), max_size=14).map("".join))
def test_any_text_can_be_read(text: str) -> None:
    line = read(text)
    assert all(isinstance(word.text, str) for each in line.commands for word in each.tokens)
    for known in ({"command": text}, {"sql": text}, {"code": text}):
        assert isinstance(danger_of({"kind": "execute", "rawInput": known}, ["/w"], "/h"), str)
    assert text.strip() in shell.suspects(text)


@given(st.text(max_size=60))
def test_any_characters_can_be_read(text: str) -> None:
    read(text)


WORDS = st.lists(st.text(st.sampled_from("ab '\"\\$`;|&<>(){}*#\n~=!-"), max_size=6), min_size=1)


@given(WORDS)
def test_quoted_words_are_read_back_unchanged(words: list[str]) -> None:
    """An argument list is written as a line so that a shell reads the same list."""
    [command] = read("x " + line_of(words)).commands[:1]
    assert command.argv[1:] == words
