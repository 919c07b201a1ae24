"""Shell completion with a title beside each id, and a description beside each command.

click leaves them out for bash, which can only list what it inserts. So the script adds them where
several words are listed, and inserts the word alone. For fish and zsh click has them."""

from typing import override

from click.shell_completion import (
    BashComplete,
    CompletionItem,
    ShellComplete,
    ZshComplete,
    add_completion_class,
    get_completion_class,
)

from rookery.cli.output import clean_line, cut

WIDEST = 60
"""Columns of a title."""

SCRIPT = """\
%(complete_func)s() {
    local IFS=$'\\n' response line type value title place width=0
    local values=() titles=()

    response=$(env COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD=$COMP_CWORD \\
%(complete_var)s=titled_complete $1)

    for line in $response; do
        IFS=$'\\t' read -r type value title <<< "$line"
        case $type in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            plain)
                values+=("$value")
                titles+=("$title")
                (( ${#value} > width )) && width=${#value}
                ;;
        esac
    done

    COMPREPLY=("${values[@]}")
    # Not where bash inserts what it lists: a single word, or the menu and insert-completions.
    if (( ${#values[@]} > 1 )) && [[ $COMP_TYPE != 37 && $COMP_TYPE != 42 ]]; then
        for place in "${!values[@]}"; do
            if [[ -n ${titles[place]} ]]; then
                printf -v line '%%-*s  %%s' "$width" "${values[place]}" "${titles[place]}"
                COMPREPLY[place]=$line
            fi
        done
    fi
    return 0
}

complete -o nosort -F %(complete_func)s %(prog_name)s
"""


class Titled(BashComplete):
    """Bash completion of words with their titles. `bash_complete` stays as it is, for scripts of
    earlier versions."""

    name = "titled"
    source_template = SCRIPT

    @override
    def format_completion(self, item: CompletionItem) -> str:
        title = cut(clean_line(item.help or ""), WIDEST)
        return f"{item.type}\t{item.value}\t{title}"


class ReadyZsh(ZshComplete):
    """Zsh completion that loads `compdef`, which click's script needs, if ~/.zshrc does not."""

    name = "zsh"
    source_template = ZshComplete.source_template.replace(
        "\n", "\n(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i }\n", 1
    )


def class_of(shell: str) -> type[ShellComplete]:
    """Return the class that prints the script of a shell."""
    ours: dict[str, type[ShellComplete]] = {"bash": Titled, "zsh": ReadyZsh}
    completer = ours.get(shell) or get_completion_class(shell)
    assert completer is not None
    return completer


def register() -> None:
    """Register the bash completion with click."""
    add_completion_class(Titled)
