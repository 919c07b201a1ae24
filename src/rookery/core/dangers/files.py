"""Irreversible actions on files, trees, disks and file systems: what deletes, empties or overwrites
them, or changes their access rights."""

import re

from rookery.core.command_line.arguments import Arguments
from rookery.core.command_line.foreign_code import language_of
from rookery.core.command_line.syntax import FINDERS, Simple, listed
from rookery.core.dangers.tables import Check

TABLE = """
erases a file system's signatures: wipefs -a|-o|--all|--offset !-n|--no-act (wipefs)
makes swap space, over what was there: mkswap #1
makes a file system, over what was there: mke2fs #1 !-n; mkdosfs #1; mkntfs #1 !-n|--no-action;
    newfs #1 !-N
erases a device: blkdiscard #1
erases a disk: hdparm --security-erase*|--trim*|--write-sector*|--sanitize* (hdparm);
    nvme format|sanitize|delete-ns|write|write-zeroes|dsm (nvme); sg_format #1; sg_sanitize #1;
    diskutil eraseDisk|eraseVolume|zeroDisk|randomDisk|secureErase|reformat (diskutil);
    diskutil apfs|ap deleteContainer|deleteVolume|eraseVolume|deleteSnapshot (diskutil)
overwrites a device: badblocks -w|-n; pvcreate #1 !-t|--test
erases a disk's partitions: sgdisk -Z|-z|--zap* (sgdisk --zap-all)
changes a disk's partitions:
    sgdisk -o|-d|-n|-g|-l|-R|--clear|--delete|--new|--mbrtogpt|--load* !-P|--pretend ();
    sfdisk --delete|--wipe|-w|-W !-n|--no-act (sfdisk);
    sfdisk #1 !-l|-d|-J|-V|-g|-s|-F|-T|-n|--list*|--dump|--json|--verify|--no* ();
    fdisk #1 !-l|-x|-s|--list*|--getsz; gdisk #1 !-l; cfdisk #1;
    parted ~mklabel|mktable|mkpart|mkpartfs|rm|resizepart|resize|rescue|disk_set ();
    diskutil partitionDisk|resizeVolume|splitPartition|mergePartitions (); diskpart
deletes a volume: lvremove #1 !-t|--test; vgremove #1 !-t|--test; pvremove #1 !-t|--test;
    lvm lvremove|vgremove|pvremove|lvreduce (lvm); rbd rm|remove|purge|snap (rbd);
    gluster volume delete|reset|stop (gluster)
cuts a volume: lvreduce #1 !-t|--test
puts a volume back to a snapshot: lvconvert --merge
removes a device: dmsetup remove|remove_all|wipe_table (dmsetup);
    btrfs device|dev delete|remove (btrfs device remove)
overwrites an array's disks: mdadm --zero-superblock|--create|-C|--remove (mdadm)
erases a volume's keys: cryptsetup ~luksFormat|erase|luksErase|luksKillSlot|luksRemoveKey ()
deletes a file system or its newer snapshots: zfs destroy|rollback !-n|-nv|-vn (zfs)
overwrites a pool: zpool destroy|labelclear|create|offline|detach|remove !-n (zpool)
deletes a subvolume: btrfs subvolume|sub delete|del
may lose data: btrfs check --repair|--init-csum-tree|--init-extent-tree
deletes snapshots: snapper ~delete|remove|rm|undochange|rollback;
    timeshift --delete|--delete-all|--restore (timeshift)
drops what was not yet written: xfs_repair -L
changes a file system: e2fsck -y|-p|-f (e2fsck); debugfs -w
changes a file system's size: resize2fs #2
deletes backups: tmutil delete|deletelocalsnapshots|deleteinprogress
overwrites a phone: fastboot erase|flash|format|flashall|update ()
erases a phone: fastboot -w ()
overwrites firmware: flashrom -w|--write|-E|--erase (flashrom);
    esptool.py ~erase_flash|erase_region|write_flash (esptool);
    esptool ~erase_flash|erase_region|write_flash|erase-flash; avrdude -e (avrdude)
changes what the machine boots: efibootmgr -B|--delete-bootnum|-O (efibootmgr)
overwrites a disk's boot sector: grub-install #1
erases the machine's keys: tpm2_clear
deletes a snapshot: qemu-img snapshot -d|-a (qemu-img)
deletes stored data: ceph ~rm|remove|delete|destroy|purge|zap; rados ~rm|rmpool|purge
deletes files permanently: rm -r|-R|--recursive -f|--force (rm -rf)
deletes a whole tree: rm -r|-R|--recursive|--no-preserve-root; rimraf #1;
    shx rm -r|-R|-f (shx rm -rf); rd ~/s|/S (rd /s); rmdir ~/s|/S (rmdir /s)
deletes everything in a directory: rm @*/[*]|[*]|~|/|.|..|*/.[*]|.[*]|[*].[*] (rm *)
overwrites and deletes files: srm #1; wipe #1
overwrites files or devices: shred #1; scrub #1
deletes files: del-cli #1 !--dry-run|-d; bleachbit -c|--clean|-s|--shred|--wipe* (bleachbit);
    Remove-Item #1; del ~/s|/S|/q|/Q|/f|/F; erase ~/s|/S|/q|/Q|/f|/F
deletes what is in the trash: trash-empty; trash-rm #1; gio trash --empty
changes the rights of a whole tree: chmod -R|--recursive; chown -R|--recursive;
    chgrp -R|--recursive; chattr -R; setfacl -R|--recursive|-b|--remove-all !--test (setfacl);
    chcon -R|--recursive
deletes files at the destination: rsync --del* !-n|--dry-run|--list-only (rsync --delete)
deletes what it copied: rsync --remove-s* !-n|--dry-run|--list-only (--remove-source-files)
deletes remote files: rclone sync|bisync|delete|deletefile|purge !-n|--dry-run|-i (rclone);
    rclone cleanup|rmdir|rmdirs|move|moveto|dedupe !-n|--dry-run|-i (rclone)
erases a part of a file: fallocate -p|-c|-z|--punch*|--collapse*|--zero* (fallocate)
deletes the files that it packed: tar --remove-files; zip -m|--move; 7z -s -d -e -l (7z -sdel)
deletes files of an archive: zip -d|--delete; 7z d
takes a file system away from who uses it: umount -f|--force|-l|--lazy (umount --force)
deletes duplicates: fdupes -d|--delete -N|--noprompt (fdupes -dN);
    jdupes -d|--delete -N|--no-prompt (jdupes -dN)
deletes old files: tmpreaper #1 !-t|--test; tmpwatch #1 !-t|--test
deletes backups: restic forget|prune|rewrite !-n|--dry-run (restic forget, prune);
    borg delete|prune|recreate|compact !-n|--dry-run (borg delete, prune);
    kopia snapshot delete|expire;
    duplicity remove-older-than|remove-all-but-n-full|cleanup --force (duplicity);
    tarsnap -d|--nuke; rdiff-backup --remove-older-than (rdiff-backup); rdiff-backup remove
rewrites the whole history: bfg #1
drops uncommitted work: svn revert; hg update|up|checkout|co -C|--clean (hg update --clean);
    hg revert; jj restore; p4 revert|clean !-n
deletes unversioned files: svn cleanup --remove-unversioned|--remove-ignored (svn cleanup)
deletes files with their changes: svn delete|rm|remove --force
deletes commits: hg strip|rollback
deletes untracked files: hg purge|clean !-p|--print
rewrites a remote's history: hg push -f|--force (hg push --force)
drops commits: jj abandon
deletes remote branches: jj git push --deleted
deletes files and their history: p4 obliterate -y (p4 obliterate)
"""


def rm(command: Simple, _arguments: Arguments) -> str:
    """Judge a deletion. One whose files another command finds may delete more than was meant."""
    if command.via in FINDERS or language_of(command.via) in ("awk", "gawk", "mawk", "nawk"):
        return f"deletes whatever is found ({command.via} … {command.program})"
    return ""


def found_rights(command: Simple, arguments: Arguments) -> str:
    """Judge a change of rights on found files. Making them executable or readable is the usual
    purpose, and passes."""
    mode = arguments.operands[0].text if arguments.operands else ""
    if command.via not in FINDERS or (command.program == "chmod" and _OPENS_UP.fullmatch(mode)):
        return ""
    return f"changes the rights of whatever is found ({command.via} … {command.program})"


_OPENS_UP = re.compile(r"[augo]*\+[rxX]+")


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
    """Judge a copy that empties a file (from /dev/null) or a move that deletes one (to it)."""
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


def mkfs(command: Simple, arguments: Arguments) -> str:
    """Judge a formatting. `mkfs.ext4 -n` only shows it; for others `-n` takes a name."""
    kind = command.program.partition(".")[2]
    trial = {"": ("-n",), "xfs": ("-N",), "ntfs": ("-n",)}.get(kind, ())
    trial = ("-n",) if kind.startswith("ext") else trial
    if not arguments.operands or arguments.has(*trial, "-V"):
        return ""
    return f"makes a file system, over what was there ({command.program})"


CHECKS: dict[str, Check] = dict.fromkeys(("rm", "unlink"), rm)
CHECKS |= dict.fromkeys(("find", "gfind"), find_program)
CHECKS |= dict.fromkeys(("truncate", "gtruncate"), truncate)
CHECKS |= dict.fromkeys(("cp", "mv"), copy)
CHECKS |= dict.fromkeys(("chmod", "chown", "chgrp"), found_rights)
CHECKS["kill"] = kill
