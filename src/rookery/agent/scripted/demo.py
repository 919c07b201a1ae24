"""The demo model for the first five minutes: it looks around, writes a note about the task, reads
it back and reports what it did. It writes nothing else."""

import json

from rookery.agent.scripted.conversation import Conversation
from rookery.agent.scripted.script import Call, Turn

NOTE = "rookery-demo.md"
PACE = 0.02
LONGEST_TASK = 400

TITLE = Turn(text="A note about the task")


def next_turn(conversation: Conversation) -> Turn:
    """Return the next turn, chosen by the tool results since the last prompt."""
    task, results = _since_the_prompt(conversation)
    if not conversation.tools:
        return TITLE
    if not conversation.offers("terminal"):
        return _end(conversation, f"You said: {task}\n\nI was given no terminal to work with.")
    directory = next((path for result in results if (path := _directory(result))), "")
    match len(results):
        case 0:
            about = (
                "I am a scripted model, so I do one small thing: I leave a note about your task."
            )
            look = _call(conversation, "terminal", command="pwd && ls")
            thought, text = "First I look at where I am.", f"{about} First I look around."
            return Turn(thought=thought, text=text, calls=(look,), every=PACE)
        case 1 if directory and NOTE not in results[0] and conversation.offers("file_editor"):
            note = f"# The task\n\n{task}\n\nWritten by the scripted model of the demo.\n"
            file = {"command": "create", "path": f"{directory}/{NOTE}", "file_text": note}
            write = _call(conversation, "file_editor", **file)
            return Turn(text=f"I write {NOTE}.", calls=(write,), every=PACE)
        case count if count == 1 or (count == 2 and directory and NOTE not in results[0]):
            # Written just now, there already, or it cannot be written.
            command = f"wc -w {NOTE} && head -n 3 {NOTE}"
            check = _call(conversation, "terminal", command=command)
            return Turn(text="I check what is written there.", calls=(check,), every=PACE)
    return _end(
        conversation,
        f"Done: your task is in {NOTE}. A real model would have done it: "
        "`rookery setup` names one, and everything else stays as you saw it.",
    )


def _end(conversation: Conversation, message: str) -> Turn:
    if conversation.offers("finish"):
        return Turn(calls=(_call(conversation, "finish", message=message),), every=PACE)
    return Turn(text=message, every=PACE)


def _call(conversation: Conversation, tool: str, **arguments: str) -> Call:
    if conversation.takes(tool, "security_risk"):
        arguments["security_risk"] = "LOW"
    return Call(tool, json.dumps(arguments))


def _since_the_prompt(conversation: Conversation) -> tuple[str, list[str]]:
    """Return the task, and the tool results since."""
    task, results = "", list[str]()
    for entry in conversation.messages:
        if entry.role == "user":
            task, results = (entry.texts[0].strip() if entry.texts else ""), []
        elif entry.role == "result":
            results.append(entry.text)
    return task[:LONGEST_TASK], results


def _directory(result: str) -> str:
    """Return the first line that is an absolute path: the output of `pwd`."""
    lines = (line.strip() for line in result.splitlines())
    return next((line for line in lines if line.startswith("/")), "")
