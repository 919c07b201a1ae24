"""Files and trees: what deletes them, empties them, or changes who may use them."""

from rookery.core.command_line.arguments import Arguments
from rookery.core.command_line.words import Simple, listed
from rookery.core.dangers.tables import Check

_TREE = "changes the rights of a whole tree"

TABLE = f"""
rm -r|-R|--recursive -f|--force :: deletes files permanently (rm -rf)
rm -r|-R|--recursive|--no-preserve-root :: deletes a whole tree (rm -r)
rm @*/[*]|[*]|~|/|.|..|*/.[*]|.[*]|[*].[*] :: deletes everything in a directory (rm *)
srm #1 :: overwrites and deletes files (srm)
shred #1 :: overwrites files or devices (shred)
wipe #1 :: overwrites and deletes files (wipe)
scrub #1 :: overwrites files or devices (scrub)
rimraf #1 :: deletes a whole tree (rimraf)
del-cli #1 !--dry-run|-d :: deletes files (del-cli)
shx rm -r|-R|-f :: deletes a whole tree (shx rm -rf)
trash-empty :: deletes what is in the trash (trash-empty)
trash-rm #1 :: deletes what is in the trash (trash-rm)
gio trash --empty :: deletes what is in the trash (gio trash --empty)
chmod -R|--recursive :: {_TREE} (chmod -R)
chown -R|--recursive :: {_TREE} (chown -R)
chgrp -R|--recursive :: {_TREE} (chgrp -R)
chattr -R :: {_TREE} (chattr -R)
setfacl -R|--recursive|-b|--remove-all !--test :: {_TREE} (setfacl)
chcon -R|--recursive :: {_TREE} (chcon -R)
rsync --del* !-n|--dry-run|--list-only :: deletes files at the destination (rsync --delete)
rsync --remove-s* !-n|--dry-run|--list-only :: deletes what it copied (--remove-source-files)
rclone sync|bisync|delete|deletefile|purge !-n|--dry-run|-i :: deletes remote files (rclone)
rclone cleanup|rmdir|rmdirs|move|moveto|dedupe !-n|--dry-run|-i :: deletes remote files (rclone)
fallocate -p|-c|-z|--punch*|--collapse*|--zero* :: erases a part of a file (fallocate)
tar --remove-files :: deletes the files that it packed (tar --remove-files)
zip -m|--move :: deletes the files that it packed (zip -m)
zip -d|--delete :: deletes files of an archive (zip -d)
7z -s -d -e -l :: deletes the files that it packed (7z -sdel)
7z d :: deletes files of an archive (7z d)
fdupes -d|--delete -N|--noprompt :: deletes duplicates (fdupes -dN)
jdupes -d|--delete -N|--no-prompt :: deletes duplicates (jdupes -dN)
tmpreaper #1 !-t|--test :: deletes old files (tmpreaper)
tmpwatch #1 !-t|--test :: deletes old files (tmpwatch)
bleachbit -c|--clean|-s|--shred|--wipe* :: deletes files (bleachbit)
restic forget|prune|rewrite !-n|--dry-run :: deletes backups (restic forget, prune)
borg delete|prune|recreate|compact !-n|--dry-run :: deletes backups (borg delete, prune)
kopia snapshot delete|expire :: deletes backups (kopia snapshot delete)
duplicity remove-older-than|remove-all-but-n-full|cleanup --force :: deletes backups (duplicity)
tarsnap -d|--nuke :: deletes backups (tarsnap -d)
rdiff-backup --remove-older-than :: deletes backups (rdiff-backup)
rdiff-backup remove :: deletes backups (rdiff-backup remove)
bfg #1 :: rewrites the whole history (bfg)
svn revert :: drops uncommitted work (svn revert)
svn cleanup --remove-unversioned|--remove-ignored :: deletes unversioned files (svn cleanup)
svn delete|rm|remove --force :: deletes files with their changes (svn delete --force)
hg update|up|checkout|co -C|--clean :: drops uncommitted work (hg update --clean)
hg revert :: drops uncommitted work (hg revert)
hg strip|rollback :: deletes commits (hg strip)
hg purge|clean !-p|--print :: deletes untracked files (hg purge)
hg push -f|--force :: rewrites a remote's history (hg push --force)
jj abandon :: drops commits (jj abandon)
jj restore :: drops uncommitted work (jj restore)
jj git push --deleted :: deletes remote branches (jj git push --deleted)
p4 obliterate -y :: deletes files and their history (p4 obliterate)
p4 revert|clean !-n :: drops uncommitted work (p4 revert)
Remove-Item #1 :: deletes files (Remove-Item)
rd ~/s|/S :: deletes a whole tree (rd /s)
rmdir ~/s|/S :: deletes a whole tree (rmdir /s)
del ~/s|/S|/q|/Q|/f|/F :: deletes files (del)
erase ~/s|/S|/q|/Q|/f|/F :: deletes files (erase)
"""


def rm(command: Simple, _arguments: Arguments) -> str:
    """What finds its files by itself may find more than was meant."""
    if command.via in ("xargs", "gxargs", "find", "gfind", "fd", "fdfind", "parallel"):
        return f"deletes whatever is found ({command.via} … {command.program})"
    return ""


def find_program(command: Simple, _arguments: Arguments) -> str:
    texts, place = command.argv, 1
    while place < len(texts):
        if texts[place] in _FIND_VALUES:
            place += 2  # a name that is looked for is no action
            continue
        if texts[place] == "-delete":
            return "deletes whatever is found (find -delete)"
        place += 1
    return ""


_FIND_VALUES = listed(
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -newer -user "
    "-group -type -size -mtime -mmin -atime -amin -ctime -cmin -perm -maxdepth -mindepth -fstype "
    "-printf -samefile -inum -links -regextype -uid -gid -xtype -used -anewer -cnewer"
)


def truncate(_command: Simple, arguments: Arguments) -> str:
    size = arguments.value("-s", "--size") or ""
    texts = [size, *(word.text for word in arguments.operands)]
    if arguments.has("-s", "--size") and any(text.startswith(("+", ">", "%")) for text in texts):
        return ""
    given = arguments.operands or arguments.has("-s", "--size", "-r", "--reference")
    return "empties or cuts a file (truncate)" if given else ""


def copy(command: Simple, arguments: Arguments) -> str:
    """Over a file from nowhere, or to nowhere."""
    operands = [word.text for word in arguments.operands]
    if command.program == "mv" and operands[-1:] == ["/dev/null"]:
        return "deletes files (mv to /dev/null)"
    sources = operands[:-1]
    if command.program == "cp" and {"/dev/null", "/dev/zero"} & set(sources):
        return "empties a file (cp /dev/null)"
    return ""


def kill(_command: Simple, arguments: Arguments) -> str:
    named = any(word.text == "-1" for word in arguments.operands)
    all_of_them = named or ("-1" in arguments.options and len(arguments.given) > 1)
    return "ends every process (kill -1)" if all_of_them else ""


CHECKS: dict[str, Check] = dict.fromkeys(("rm", "unlink"), rm)
CHECKS |= dict.fromkeys(("find", "gfind"), find_program)
CHECKS |= dict.fromkeys(("truncate", "gtruncate"), truncate)
CHECKS |= dict.fromkeys(("cp", "mv"), copy)
CHECKS["kill"] = kill
