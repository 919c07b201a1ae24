"""The machine itself: users, packages, services, the clock's jobs, the network, keys."""

from rookery.core.command_line.arguments import Arguments
from rookery.core.command_line.words import Simple

_STOPS = "stops the machine"
_PACKAGES = "removes installed packages"

TABLE = f"""
userdel #1 :: deletes a user (userdel)
deluser #1 :: deletes a user (deluser)
groupdel #1 :: deletes a group (groupdel)
delgroup #1 :: deletes a group (delgroup)
passwd -d|--delete :: deletes a password (passwd -d)
chpasswd :: changes passwords (chpasswd)
usermod -p|--password :: changes a password (usermod -p)
dscl -d :: deletes a user (dscl -delete)
sysadminctl -deleteUser|--deleteUser :: deletes a user (sysadminctl)
smbpasswd -x :: deletes a user (smbpasswd -x)
pdbedit -x :: deletes a user (pdbedit -x)
shutdown !-c|-k|--show :: {_STOPS} (shutdown)
reboot !-w|--wtmp-only :: {_STOPS} (reboot)
poweroff !-w|--wtmp-only :: {_STOPS} (poweroff)
halt !-w|--wtmp-only :: {_STOPS} (halt)
init @0|6 :: {_STOPS} (init)
telinit @0|6 :: {_STOPS} (telinit)
systemctl poweroff|reboot|halt|kexec|emergency|rescue|soft-reboot !--dry-run :: {_STOPS} (systemctl)
systemctl revert :: deletes changes of a unit (systemctl revert)
journalctl --vacuum* :: deletes logs (journalctl --vacuum)
wevtutil cl|clear-log :: deletes logs (wevtutil)
dmesg -C|--clear :: deletes the kernel's messages (dmesg -C)
history -c|-w :: deletes the shell's history (history -c)
atrm #1 :: deletes planned jobs (atrm)
at -d|-r #1 :: deletes planned jobs (at -d)
apt remove|purge|autoremove|autopurge !-s|--simulate|--dry-run|--just* :: {_PACKAGES} (apt)
apt-get aptitude = apt
dpkg -P|-r|--purge|--remove !--dry-run|--simulate|--no-act :: {_PACKAGES} (dpkg)
rpm -e|--erase !--test :: {_PACKAGES} (rpm -e)
dnf remove|erase|autoremove|downgrade|swap !--assumeno :: {_PACKAGES} (dnf)
yum microdnf = dnf
zypper remove|rm !-D|--dry-run :: {_PACKAGES} (zypper remove)
pacman -R|--remove !-p|--print :: {_PACKAGES} (pacman -R)
yay -R|--remove :: {_PACKAGES} (yay -R)
paru -R|--remove :: {_PACKAGES} (paru -R)
apk del !-s|--simulate :: {_PACKAGES} (apk del)
emerge -C|-c|--unmerge|--depclean !-p|--pretend :: {_PACKAGES} (emerge)
opkg remove !--noaction :: {_PACKAGES} (opkg)
pkg delete|remove|autoremove !-n|--dry-run :: {_PACKAGES} (pkg)
snap remove :: {_PACKAGES} (snap remove)
flatpak uninstall|remove :: {_PACKAGES} (flatpak uninstall)
brew uninstall|remove|rm|autoremove !-n|--dry-run :: {_PACKAGES} (brew)
port uninstall !-y :: {_PACKAGES} (port)
choco uninstall !--noop :: {_PACKAGES} (choco)
winget uninstall|remove :: {_PACKAGES} (winget)
conda env remove !-d|--dry-run :: deletes an environment (conda env remove)
conda remove|uninstall --all !-d|--dry-run :: deletes an environment (conda remove --all)
mamba env remove !--dry-run :: deletes an environment (mamba env remove)
nix-collect-garbage -d|--delete-old* !--dry-run :: deletes old generations
nix-env --delete-generations :: deletes old generations (nix-env)
nix ~wipe-history|delete !--dry-run :: deletes old generations (nix)
rustup self uninstall :: removes the toolchain (rustup self uninstall)
npm unpublish !--dry-run :: deletes a published package (npm unpublish)
npm owner|dist-tag|token|team|hook|access rm|revoke|remove|destroy|delete :: deletes it (npm)
pnpm unpublish :: deletes a published package (pnpm unpublish)
cargo yank !--undo :: withdraws a published version (cargo yank)
gem yank :: deletes a published package (gem yank)
iptables -F|-X|-Z|-D|--flush|--delete-chain|--delete :: drops firewall rules (iptables)
ip6tables ebtables = iptables
nft flush|delete !-c|--check :: drops firewall rules (nft)
ufw ~reset|delete !--dry-run :: drops firewall rules (ufw reset)
firewall-cmd --remove*|--delete*|--reset-to-defaults :: drops firewall rules
pfctl -F !-n :: drops firewall rules (pfctl -F)
ipset destroy|flush|-X|-F :: drops firewall rules (ipset)
ip ~flush|del|delete :: takes down a part of the network (ip)
nmcli ~delete|del :: deletes a connection (nmcli)
networksetup -removenetworkservice|-deletepppoeservice :: deletes a connection
gpg --delete-key*|--delete-secret* :: deletes keys (gpg --delete-keys)
gpg2 = gpg
keytool -d -e -l -t :: deletes a key (keytool -delete)
security @delete-* :: deletes keys (security delete)
secret-tool clear :: deletes secrets (secret-tool clear)
pass rm|remove|delete :: deletes secrets (pass rm)
certbot delete|revoke !--dry-run :: deletes a certificate (certbot delete)
defaults delete|delete-all :: deletes settings (defaults delete)
dconf reset -f :: deletes settings (dconf reset -f)
gsettings reset-recursively :: deletes settings (gsettings)
reg delete|DELETE :: deletes settings (reg delete)
launchctl remove|bootout :: removes a service (launchctl)
adb uninstall|disable-verity|sideload :: removes from a phone (adb)
csrutil disable|clear :: turns off the system's protection (csrutil)
sc delete :: removes a service (sc delete)
update-rc.d ~remove :: removes a service (update-rc.d)
nvram -c|-d :: deletes firmware settings (nvram)
vssadmin delete :: deletes backups (vssadmin)
wbadmin delete :: deletes backups (wbadmin)
killall5 :: ends every process (killall5)
postsuper -d :: deletes mail (postsuper -d)
exim -M :: deletes mail (exim)
doveadm expunge :: deletes mail (doveadm expunge)
scancel -u|--user :: ends all jobs (scancel)
logrotate -f|--force !-d|--debug :: rotates logs now (logrotate -f)
"""


def crontab(command: Simple, arguments: Arguments) -> str:
    """Deleted, or replaced as a whole."""
    if arguments.has("-r"):
        return "deletes all planned jobs (crontab -r)"
    if arguments.has("-l", "-e", "-T", "-V"):
        return ""
    replaced = command.fed_by or arguments.operands
    return "replaces all planned jobs (crontab)" if replaced else ""


def rights(command: Simple, arguments: Arguments) -> str:
    """Of the system itself, also of a single directory."""
    targets = [word.text for word in arguments.operands[1:]]
    holy = ("/", "/etc", "/bin", "/sbin", "/usr", "/var", "/lib", "/boot", "/dev", "/home", "~")
    for target in targets:
        plain = target.rstrip("/") or "/"
        if plain in holy or plain.startswith(("/etc/", "/bin/", "/sbin/", "/boot/", "/dev/")):
            return f"changes the rights of the system ({command.program} {plain})"
    return ""


CHECKS = {"crontab": crontab} | dict.fromkeys(("chmod", "chown", "chgrp"), rights)
