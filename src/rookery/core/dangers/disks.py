"""Disks, volumes and file systems: what overwrites them whole."""

from rookery.core.command_line.arguments import Arguments
from rookery.core.command_line.words import Simple

_PARTITIONS = "changes a disk's partitions"
_VOLUME = "deletes a volume"

TABLE = f"""
wipefs -a|-o|--all|--offset !-n|--no-act :: erases a file system's signatures (wipefs)
mkswap #1 :: makes swap space, over what was there (mkswap)
mke2fs #1 !-n :: makes a file system, over what was there (mke2fs)
mkdosfs #1 :: makes a file system, over what was there (mkdosfs)
mkntfs #1 !-n|--no-action :: makes a file system, over what was there (mkntfs)
newfs #1 !-N :: makes a file system, over what was there (newfs)
blkdiscard #1 :: erases a device (blkdiscard)
hdparm --security-erase*|--trim*|--write-sector*|--sanitize* :: erases a disk (hdparm)
nvme format|sanitize|delete-ns|write|write-zeroes|dsm :: erases a disk (nvme)
sg_format #1 :: erases a disk (sg_format)
sg_sanitize #1 :: erases a disk (sg_sanitize)
badblocks -w|-n :: overwrites a device (badblocks -w)
sgdisk -Z|-z|--zap* :: erases a disk's partitions (sgdisk --zap-all)
sgdisk -o|-d|-n|-g|-l|-R|--clear|--delete|--new|--mbrtogpt|--load* !-P|--pretend :: {_PARTITIONS}
sfdisk --delete|--wipe|-w|-W !-n|--no-act :: {_PARTITIONS} (sfdisk)
sfdisk #1 !-l|-d|-J|-V|-g|-s|-F|-T|-n|--list*|--dump|--json|--verify|--no* :: {_PARTITIONS}
fdisk #1 !-l|-x|-s|--list*|--getsz :: {_PARTITIONS} (fdisk)
gdisk #1 !-l :: {_PARTITIONS} (gdisk)
cfdisk #1 :: {_PARTITIONS} (cfdisk)
parted ~mklabel|mktable|mkpart|mkpartfs|rm|resizepart|resize|rescue|disk_set :: {_PARTITIONS}
lvremove #1 !-t|--test :: {_VOLUME} (lvremove)
vgremove #1 !-t|--test :: {_VOLUME} (vgremove)
pvremove #1 !-t|--test :: {_VOLUME} (pvremove)
pvcreate #1 !-t|--test :: overwrites a device (pvcreate)
lvreduce #1 !-t|--test :: cuts a volume (lvreduce)
lvconvert --merge :: puts a volume back to a snapshot (lvconvert --merge)
lvm lvremove|vgremove|pvremove|lvreduce :: {_VOLUME} (lvm)
dmsetup remove|remove_all|wipe_table :: removes a device (dmsetup)
mdadm --zero-superblock|--create|-C|--remove :: overwrites an array's disks (mdadm)
cryptsetup ~luksFormat|erase|luksErase|luksKillSlot|luksRemoveKey :: erases a volume's keys
zfs destroy|rollback !-n|-nv|-vn :: deletes a file system or its newer snapshots (zfs)
zpool destroy|labelclear|create|offline|detach|remove !-n :: overwrites a pool (zpool)
btrfs subvolume|sub delete|del :: deletes a subvolume (btrfs subvolume delete)
btrfs device|dev delete|remove :: removes a device (btrfs device remove)
btrfs check --repair|--init-csum-tree|--init-extent-tree :: may lose data (btrfs check --repair)
snapper ~delete|remove|rm|undochange|rollback :: deletes snapshots (snapper)
timeshift --delete|--delete-all|--restore :: deletes snapshots (timeshift)
xfs_repair -L :: drops what was not yet written (xfs_repair -L)
e2fsck -y|-p|-f :: changes a file system (e2fsck)
resize2fs #2 :: changes a file system's size (resize2fs)
debugfs -w :: changes a file system (debugfs -w)
diskutil eraseDisk|eraseVolume|zeroDisk|randomDisk|secureErase|reformat :: erases a disk (diskutil)
diskutil partitionDisk|resizeVolume|splitPartition|mergePartitions :: changes a disk's partitions
diskutil apfs|ap deleteContainer|deleteVolume|eraseVolume|deleteSnapshot :: erases a disk (diskutil)
tmutil delete|deletelocalsnapshots|deleteinprogress :: deletes backups (tmutil delete)
diskpart :: changes a disk's partitions (diskpart)
fastboot erase|flash|format|flashall|update :: overwrites a phone
fastboot -w :: erases a phone
flashrom -w|--write|-E|--erase :: overwrites firmware (flashrom)
esptool.py ~erase_flash|erase_region|write_flash :: overwrites firmware (esptool)
esptool ~erase_flash|erase_region|write_flash|erase-flash :: overwrites firmware (esptool)
avrdude -e :: overwrites firmware (avrdude)
efibootmgr -B|--delete-bootnum|-O :: changes what the machine boots (efibootmgr)
grub-install #1 :: overwrites a disk's boot sector (grub-install)
tpm2_clear :: erases the machine's keys (tpm2_clear)
qemu-img snapshot -d|-a :: deletes a snapshot (qemu-img)
ceph ~rm|remove|delete|destroy|purge|zap :: deletes stored data (ceph)
rbd rm|remove|purge|snap :: deletes a volume (rbd)
rados ~rm|rmpool|purge :: deletes stored data (rados)
gluster volume delete|reset|stop :: deletes a volume (gluster)
"""


def mkfs(command: Simple, arguments: Arguments) -> str:
    """`mkfs.ext4 -n` only shows what it would do; for others `-n` is a name."""
    kind = command.program.partition(".")[2]
    trial = {"": ("-n",), "xfs": ("-N",), "ntfs": ("-n",)}.get(kind, ())
    trial = ("-n",) if kind.startswith("ext") else trial
    if not arguments.operands or arguments.has(*trial, "-V"):
        return ""
    return f"makes a file system, over what was there ({command.program})"
