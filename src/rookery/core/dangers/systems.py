"""Irreversible actions on the machine itself: users, packages, services, jobs, network, keys."""

from rookery.core.command_line.arguments import Arguments
from rookery.core.command_line.syntax import Simple

TABLE = """
deletes a user: userdel #1; deluser #1; dscl -d (dscl -delete);
    sysadminctl -deleteUser|--deleteUser (sysadminctl); smbpasswd -x; pdbedit -x
deletes a group: groupdel #1; delgroup #1
deletes a password: passwd -d|--delete
changes passwords: chpasswd
changes a password: usermod -p|--password
stops the machine: shutdown !-c|-k|--show; reboot !-w|--wtmp-only; poweroff !-w|--wtmp-only;
    halt !-w|--wtmp-only; init @0|6; telinit @0|6;
    systemctl poweroff|reboot|halt|kexec|emergency|rescue|soft-reboot !--dry-run (systemctl)
deletes changes of a unit: systemctl revert
deletes logs: journalctl --vacuum* (journalctl --vacuum); wevtutil cl|clear-log (wevtutil)
deletes the kernel's messages: dmesg -C|--clear
deletes the shell's history: history -c|-w
deletes planned jobs: atrm #1; at -d|-r #1
removes installed packages:
    apt remove|purge|autoremove|autopurge !-s|--simulate|--dry-run|--just* (apt);
    dpkg -P|-r|--purge|--remove !--dry-run|--simulate|--no-act (dpkg); rpm -e|--erase !--test;
    dnf remove|erase|autoremove|downgrade|swap !--assumeno (dnf); zypper remove|rm !-D|--dry-run;
    pacman -R|--remove !-p|--print; yay -R|--remove; paru -R|--remove; apk del !-s|--simulate;
    emerge -C|-c|--unmerge|--depclean !-p|--pretend (emerge); opkg remove !--noaction (opkg);
    pkg delete|remove|autoremove !-n|--dry-run (pkg); snap remove; flatpak uninstall|remove;
    brew uninstall|remove|rm|autoremove !-n|--dry-run (brew); port uninstall !-y (port);
    choco uninstall !--noop (choco); winget uninstall|remove (winget)
deletes an environment: conda env remove !-d|--dry-run; conda remove|uninstall --all !-d|--dry-run;
    mamba env remove !--dry-run
deletes old generations: nix-collect-garbage -d|--delete-old* !--dry-run ();
    nix-env --delete-generations (nix-env); nix ~wipe-history|delete !--dry-run
removes a toolchain: rustup self uninstall; rustup toolchain uninstall|remove;
    pyenv uninstall; rbenv uninstall; nodenv uninstall; asdf uninstall; mise uninstall;
    nvm uninstall; fnm uninstall; volta uninstall; sdk uninstall|rm; uv python uninstall;
    goenv uninstall; jenv remove; ghcup rm; conda clean -a|--all
removes installed programs: pip uninstall; uv pip uninstall; npm uninstall|remove|rm -g|--global;
    pnpm remove|rm -g|--global; yarn global remove; gem uninstall; pipx uninstall|uninstall-all;
    uv tool uninstall; cargo uninstall; cpanm -U|--uninstall
ends whatever uses it: fuser -k|--kill
deletes sessions: rookery remove; rookery prune; rookery trash --empty
deletes all that Rookery keeps: rookery uninstall
ends or hides work of a session: rookery clear; rookery drop; rookery rewind !--list|--dry-run;
    rookery archive; rookery snooze !--off; rookery stop; rookery cancel; rookery restart;
    rookery switch-agent; rookery queue ~remove|edit (rookery queue)
deletes settings of Rookery: rookery agents|mcp|policy|model remove|delete (rookery);
    rookery devices --revoke; rookery logout
deletes a published package: npm unpublish !--dry-run; pnpm unpublish; gem yank
deletes it: npm owner|dist-tag|token|team|hook|access rm|revoke|remove|destroy|delete (npm)
withdraws a published version: cargo yank !--undo
turns traffic away: iptables -P|--policy
drops firewall rules: iptables -F|-X|-Z|-D|--flush|--delete-chain|--delete (iptables);
    nft flush|delete !-c|--check (nft); ufw ~reset|delete !--dry-run (ufw reset);
    firewall-cmd --remove*|--delete*|--reset-to-defaults (); pfctl -F !-n;
    ipset destroy|flush|-X|-F (ipset)
takes down a part of the network: ip ~flush|del|delete
deletes a connection: nmcli ~delete|del; networksetup -removenetworkservice|-deletepppoeservice ()
deletes keys: gpg --delete-key*|--delete-secret* (gpg --delete-keys);
    security @delete-* (security delete)
deletes a key: keytool -d -e -l -t (keytool -delete)
deletes secrets: secret-tool clear; pass rm|remove|delete
deletes a certificate: certbot delete|revoke !--dry-run
deletes settings: defaults delete|delete-all; dconf reset -f;
    gsettings reset-recursively (gsettings); reg delete|DELETE
removes a service: launchctl remove|bootout (launchctl); sc delete; update-rc.d ~remove
removes from a phone: adb uninstall|disable-verity|sideload (adb)
turns off the system's protection: csrutil disable|clear (csrutil)
deletes firmware settings: nvram -c|-d (nvram)
deletes backups: vssadmin delete (vssadmin); wbadmin delete (wbadmin)
ends every process: killall5
deletes mail: postsuper -d; exim -M (exim); doveadm expunge
ends all jobs: scancel -u|--user (scancel)
rotates logs now: logrotate -f|--force !-d|--debug
as apt: apt-get; aptitude
as pip: pip3
as dnf: yum; microdnf
as iptables: ip6tables; ebtables
as gpg: gpg2
"""


def crontab(command: Simple, arguments: Arguments) -> str:
    """Judge a crontab that is deleted, or replaced as a whole."""
    if arguments.has("-r"):
        return "deletes all planned jobs (crontab -r)"
    if arguments.has("-l", "-e", "-T", "-V"):
        return ""
    replaced = command.fed_by or arguments.operands
    return "replaces all planned jobs (crontab)" if replaced else ""


def rights(command: Simple, arguments: Arguments) -> str:
    """Judge a change of rights on the system itself, even on a single directory."""
    targets = [word.text for word in arguments.operands[1:]]
    holy = ("/", "/etc", "/bin", "/sbin", "/usr", "/var", "/lib", "/boot", "/dev", "/home", "~")
    for target in targets:
        plain = target.rstrip("/") or "/"
        if plain in holy or plain.startswith(("/etc/", "/bin/", "/sbin/", "/boot/", "/dev/")):
            return f"changes the rights of the system ({command.program} {plain})"
    return ""


CHECKS = {"crontab": crontab} | dict.fromkeys(("chmod", "chown", "chgrp"), rights)
