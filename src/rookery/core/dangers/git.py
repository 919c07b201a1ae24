"""Irreversible actions of git: what loses commits, branches or uncommitted work."""

from itertools import starmap

from rookery.core.command_line.arguments import Arguments, first_operand, values_of
from rookery.core.command_line.syntax import Simple, listed, options_table
from rookery.core.dangers.tables import find, row_of, uses_of

_TABLE = """
deletes branches of a remote: git push -d|--delete !-n|--dry-run (git push --delete);
    git push --mirror|--prune !-n|--dry-run (git push --mirror, --prune)
rewrites a remote's history:
    git push -f|--force|--force-with-lease !-n|--dry-run (git push --force);
    git push @+* !-n|--dry-run (git push +branch); git send-pack --force|--mirror !--dry-run
deletes branches of a remote: git push @:* !-n|--dry-run (git push :branch)
drops uncommitted work: git reset --hard|--merge;
    git switch -f|--force|--discard-changes (git switch --discard-changes); git read-tree --reset -u
deletes untracked files: git clean -f|--force !-n|--dry-run
moves a branch, its commits may be lost: git switch -C|--force-create
deletes branches that may not be merged: git branch -D;
    git branch -d|--delete -f|--force (git branch -D)
moves a branch, its commits may be lost: git branch -f|--force
deletes stashed work: git stash drop|clear
deletes a remote's branches here: git remote remove|rm (git remote remove)
deletes tags: git tag -d|--delete
moves a tag: git tag -f|--force
rewrites the whole history: git filter-branch; git filter-repo !--analyze|--dry-run;
    git lfs migrate import|export (git lfs migrate)
deletes local copies of large files: git lfs prune !-d|--dry-run
deletes the way back to lost commits: git reflog expire|delete !-n|--dry-run;
    git gc --prune=now|--prune=all|--prune=0* (git gc --prune); git prune !-n|--dry-run
deletes a branch or tag: git update-ref -d|--delete
changes branches by what it reads: git update-ref --stdin
deletes a reference: git symbolic-ref -d|--delete
deletes notes: git notes remove|prune !-n|--dry-run
deletes replacements: git replace -d|--delete
deletes a worktree with its changes: git worktree remove -f|--force (git worktree remove --force)
deletes a submodule's work: git submodule deinit -f|--force (git submodule deinit --force)
deletes files with their changes: git rm -f|--force !-n|--dry-run|--cached
overwrites files: git checkout-index -f|--force
deletes the last copy of files: git annex drop|dropunused|drop-key --force
deletes the annex: git annex uninit ()
"""
_ROWS = tuple(starmap(row_of, uses_of([_TABLE])["git"]))

_NAMES = listed(
    "c cc cfg cjs conf cpp cs css csv env go gradle h hpp html ini java js json jsx kt less lock "
    "log lua md mjs php pl properties py rb rs rst sass scala scss sh sql svelte swift tf toml ts "
    "tsx txt vue xml yaml yml zig"
)
"""Endings by which a word is a file, not a branch."""


def judge(command: Simple, arguments: Arguments) -> str:
    """Judge `git`, with any options before its subcommand."""
    place = first_operand(command.tokens[1:], values_of("git")) + 1
    verb = command.tokens[place].text if place < len(command.tokens) else ""
    behind = Arguments(command.tokens[place + 1 :], _VALUES.get(verb, ()))
    if "-h" in behind.options and verb not in ("grep", "ls-remote", "archive"):
        return ""
    match verb:
        case "checkout":
            return _checkout(command, place, behind)
        case "restore":
            return _restore(behind)
        case "clean":
            settings = [word.text.lower() for word in arguments.values("-c")]
            if "clean.requireforce=false" in settings and not behind.has("-n", "--dry-run"):
                return "deletes untracked files (git clean)"
    behind.operands.insert(0, command.tokens[place]) if verb else None
    return find(_ROWS, behind)


_VALUES = options_table("""
push: -o --push-option --repo --receive-pack --exec
checkout: -b -B --orphan --conflict
restore: -s --source --conflict
switch: -c --create --orphan --conflict
commit: -m -F -C -c -t --message --file --author --date
tag: -m -F -u -n --message --file --sort --format --contains
branch: -u --set-upstream-to --sort --format --contains
stash: -m --message
clean: -e --exclude
reset: --pathspec-from-file
notes: --ref -m -F
filter-repo: --path --refs --path-rename
""")


def _checkout(command: Simple, place: int, behind: Arguments) -> str:
    """Judge a checkout, of a branch or of files that it overwrites."""
    texts = [word.text for word in command.tokens[place + 1 :]]
    operands = [word.text for word in behind.operands]
    if behind.has("-f", "--force"):
        return "drops uncommitted work (git checkout --force)"
    if "-B" in behind.options:
        return "moves a branch, its commits may be lost (git checkout -B)"
    if behind.has("-b", "--orphan", "--track", "-t", "--detach", "-d", "-p", "--patch"):
        return ""
    files = "--" in texts and bool(texts[texts.index("--") + 1 :])
    if files or len(operands) > 1 or any(map(_is_file, operands)):
        return "drops uncommitted work (git checkout of files)"
    if behind.has("--ours", "--theirs", "--pathspec-from-file"):
        return "drops uncommitted work (git checkout of files)"
    return ""


def _is_file(text: str) -> bool:
    if text in (".", "..") or text.startswith(("./", "../", ":/", ":(", ":!", "*")):
        return True
    if text.endswith("/") or "*" in text:
        return True
    return "." in text and text.rpartition(".")[2].lower() in _NAMES


def _restore(behind: Arguments) -> str:
    """Judge a restore: what is only removed from the index is still in the working tree."""
    staged = behind.has("-S", "--staged")
    if (staged and not behind.has("-W", "--worktree")) or behind.has("-p", "--patch"):
        return ""
    if behind.operands or behind.has("--pathspec-from-file"):
        return "drops uncommitted work (git restore)"
    return ""
