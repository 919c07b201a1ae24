"""The git configuration of a store: bytes are stored as they are, and nothing runs by itself."""

CONFIG = """[core]
\trepositoryformatversion = 0
\tbare = false
\tfilemode = true
\tsymlinks = true
\tignorecase = false
\tprecomposeunicode = false
\tprotectHFS = false
\tprotectNTFS = false
\tautocrlf = false
\tsafecrlf = false
\tfsmonitor = false
\thooksPath = /dev/null
\tpreloadIndex = true
\tlooseCompression = 1
\tfsyncMethod = batch
\tlogAllRefUpdates = false
[index]
\tversion = 4
[gc]
\tauto = 0
"""
ATTRIBUTES = "* -text -filter -ident !eol !working-tree-encoding\n"
