"""The style sheet: where things stand. Colours come from the theme by their meaning."""

SHEET = """
Screen { background: $background; color: $foreground; }
#fleet {
    width: 30; border-right: solid $line; background: $background;
    scrollbar-size: 1 1; overflow-x: hidden; padding: 1 0 0 0;
}
#fleet.folded { display: none; }
#stage { width: 1fr; }
#transcript {
    height: 1fr; background: $background; scrollbar-size-vertical: 1;
    overflow-y: scroll; overflow-x: hidden; padding: 0 0 0 1;
}
#queue { height: 1; display: none; background: $background; }
#feedback, #shell, #suggestions, #chips, #found { height: 1; background: $background; }
#shell { margin: 1 0 0 0; }
#suggestions { background: $card; margin: 0 1; }
#queue:focus { background: $card; }
#found { margin: 1 0; background: $card; }
#composer {
    height: auto; max-height: 10; min-height: 1; margin: 0 1; padding: 0 1;
    border: round $line; background: $background; scrollbar-size: 1 1;
}
#composer:focus { border: round $accent; }
#status { height: 1; background: $background; }
#keys { height: 1; background: $card; }
ToastRack { align: right top; }
Toast { background: $card; }
ModalScreen { align: center middle; background: $background 60%; }
.window {
    width: 64; max-width: 94%; height: auto; max-height: 90%; padding: 1 2;
    border: round $accent; background: $card;
}
.window.tall { height: 90%; }
.window .title { text-style: bold; margin: 0 0 1 0; }
.window .section { text-style: bold; color: $accent; margin: 1 0 0 0; }
.window .hint { color: $ink-2; }
.window .problem { color: $error; height: auto; }
.window .fields { height: auto; max-height: 24; }
.window Checkbox { background: $card; margin: 0 0 1 0; }
.window Checkbox > .toggle--button { color: $card; background: $ink-3; }
.window Checkbox.-on > .toggle--button { color: $success; background: $background; }
.window Input { margin: 0 0 1 0; background: $background; }
"""
