"""The style sheets: of the first paint, of the parts that come after it, and of windows."""

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
    overflow-y: scroll; overflow-x: hidden;
}
#composer {
    height: auto; max-height: 10; min-height: 1; margin: 0 1; padding: 0 1;
    border: round $line; background: $background; scrollbar-size: 1 1;
}
#composer:focus { border: round $accent; }
#composer .text-area--cursor { background: $foreground; color: $background; }
#composer .text-area--placeholder { color: $ink-3; }
#status { height: 1; background: $background; }
ToastRack { dock: top; align: right top; margin: 1 0 0 0; }
"""

PARTS = """
#find { height: 1; background: $card; margin: 0 1; }
#find .name { color: $accent; text-style: bold; }
#find Input { width: 1fr; background: $card; }
#find .told { width: auto; color: $ink-2; }
#panel {
    border-left: solid $line; background: $background; scrollbar-size: 1 1;
    overflow-x: hidden; padding: 1 0 0 0;
}
#queue { height: 1; display: none; background: $background; }
#feedback, #shell, #suggestions, #chips { height: 1; background: $background; }
#shell, #feedback { margin: 1 0 0 0; }
#suggestions { background: $card; margin: 0 1; }
#queue:focus { background: $card; }
Toast { background: $card; }
ModalScreen { align: center middle; background: $background 80%; }
ModalScreen.over { background: $background; }
"""

WINDOWS = """
#found { height: 1; margin: 0 0 1 0; background: $card; }
.window {
    width: 64; max-width: 94%; height: auto; max-height: 90%; padding: 1 2;
    border: round $accent; background: $card;
}
ModalScreen.below { align: center bottom; background: transparent; }
.below .window { width: 100%; max-width: 100%; padding: 0 1; }
.below .window .title, .below .window Input, .below .window .keys { margin: 0; }
.window.tall { height: 90%; }
.window.wide { width: 80; height: 96%; padding: 0 2; }
.window.wide VerticalScroll { scrollbar-size: 1 1; }
.window.whole { width: 94%; max-width: 140; }
.window.whole Whole { height: 1fr; background: $card; scrollbar-size: 1 1; overflow-x: hidden; }
.window.short, .window.short Whole { height: auto; }
.window.picture {
    width: 100%; max-width: 100%; height: 100%; max-height: 100%; padding: 0 1; border: none;
    background: $background;
}
.window.picture #canvas { width: 100%; height: 1fr; background: $background; color: $ink-2; }
.window .title { text-style: bold; margin: 0 0 1 0; }
.window .hint, .window .about { color: $ink-2; }
.window .about { width: 100%; margin: 0 0 1 0; }
.window .problem { color: $error; height: auto; }
.window .said { color: $ink-2; margin: 0 0 1 0; width: 100%; }
.window .keys {
    width: 100%; color: $ink-2; margin: 1 0 0 0; link-style: none; link-color: $ink-2;
    link-background: $card; link-style-hover: none; link-color-hover: $card;
    link-background-hover: $accent;
}
.window .told { width: 100%; height: auto; max-height: 5; margin: 1 0 0 0; color: $ink-2; }
.window .told.quiet { display: none; }
.window .output { width: 100%; height: auto; color: $ink-2; }
.window Checkbox { background: $card; margin: 0 0 1 0; }
.window Checkbox > .toggle--button { color: $foreground; background: $card; }
.window Checkbox.-on > .toggle--button { color: $success; background: $card; }
.window Input { margin: 0 0 1 0; background: $field; }
.window Input:focus { background-tint: $field 0%; }
.window Input > .input--placeholder { color: $ink-2; text-style: italic; }
.window.form, .window.list { width: 76; padding: 0 2; max-height: 96%; }
.window.preview VerticalScroll { height: auto; max-height: 55vh; scrollbar-size: 1 1; }
.window.preview .said { margin: 0; }
.window.preview OptionList { margin: 1 0 0 0; }
.window .fields { height: auto; max-height: 66vh; scrollbar-size: 1 1; }
.field { height: auto; margin: 0 0 1 0; padding: 0 1 0 0; }
.field .name { width: 100%; }
.field.here .name { color: $accent; text-style: bold; }
.field .hint, .window .problem { width: 100%; }
.window OptionList {
    height: auto; max-height: 60vh; background: $card; border: none; padding: 0;
    scrollbar-size: 1 1;
}
.window OptionList:focus { background-tint: $card 0%; }
.window OptionList > .option-list--option-highlighted,
.window OptionList:focus > .option-list--option-highlighted {
    background: $chosen; color: $foreground; text-style: none;
}
.window Select { background: $field; height: auto; }
.field Vertical { height: auto; }
.field Input, .field Checkbox { margin: 0; }
.window Checkbox:focus > .toggle--label { background: $card; color: $accent; text-style: bold; }
.window Select > SelectCurrent { background: $field; }
.window Select > SelectOverlay { background: $field; }
.window Select > SelectOverlay:focus { background-tint: $field 0%; }
.window Select:focus > SelectCurrent { background-tint: $field 0%; }
"""
