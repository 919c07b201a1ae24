"""Parsing a command's arguments as its program would: options, their values, and operands.

`git -C dir push` is a push: for programs that wrap others or have subcommands, this module knows
which options take the next word."""

from collections.abc import Iterable, Sequence

from rookery.core.command_line.syntax import Word, listed, options_table

_VALUES = options_table("""
git: -C -c --git-dir --work-tree --namespace --exec-path --super-prefix --config-env --attr-source
npm: --registry --prefix -w --workspace -C --userconfig --globalconfig --cache --loglevel
    --script-shell --tag --otp --access
pnpm: -C --dir -F --filter --registry --reporter --loglevel
yarn: --cwd --registry --cache-folder --modules-folder
rookery: --daemon
docker podman nerdctl: -H --host -c --context --config -l --log-level --tlscacert --tlscert --tlskey
compose docker-compose podman-compose: --scale -f --file -p --project-name --profile --env-file
    --project-directory --ansi --parallel --progress
kubectl oc k minikube: -n --namespace --context --kubeconfig --cluster --user -s --server --as
    --as-group --token --certificate-authority --client-key --client-certificate --request-timeout
    -v --cache-dir --tls-server-name --profile -l --selector -f --filename -o --output -k
    --kustomize --field-selector -c --container --grace-period --timeout --cascade --replicas --type
    -p --patch
helm: -n --namespace --kube-context --kubeconfig --kube-apiserver --kube-token --registry-config
    --repository-cache --repository-config -f --values --set --timeout --version --description
    --cascade
aws: --profile --region --output --endpoint-url --query --color --ca-bundle --cli-read-timeout
    --cli-connect-timeout
gcloud: --project --account --configuration --format --verbosity --billing-project --flags-file
    --impersonate-service-account --zone --region --filter --limit --sort-by
az: --mode -o --output --query --subscription -g --resource-group -n --name
gsutil: -h -i -o -u
pulumi: -C --cwd -s --stack -v --color
gh: -R --repo -X --method -f -F --field --raw-field -H --header -q --jq -t --template --input
    --hostname
cargo: --config -C -Z --color
go: -C
make: -C -f -I -j -l -o -W --directory --file --makefile --jobs
systemctl: -H -M -t -p -s -n -o --host --machine --type --property --signal --root
redis-cli valkey-cli keydb-cli: -h -p -a -u -n -s -r -i --user --pass --eval --pattern
psql pgcli: -h -p -U -d -c -f -v -o -L -F -R -T -P --host --port --username --dbname --command
    --file --set --variable --output --log-file --field-separator --record-separator --pset
mysql mariadb mycli: -u -h -P -D -e -S --user --host --port --database --execute --socket
    --default-character-set --init-command --protocol
sqlite3: -cmd -init -separator -newline -nullvalue -vfs -maxsize -mmap
mongosh mongo: --host --port -u --username -p --password --authenticationDatabase --eval -f --file
rsync: -e --rsh --exclude --include --filter -f --exclude-from --include-from --files-from -B
    --block-size --bwlimit --port --password-file --log-file --out-format --backup-dir -T --temp-dir
    --partial-dir --compare-dest --copy-dest --link-dest --suffix --timeout --chmod --chown
    --rsync-path --max-size --min-size -M --info --debug
apt apt-get aptitude: -o -c -t --option --config-file --target-release -a
pip pip3: -r -c -i -t --index-url --requirement --constraint --target --python --log --proxy
ansible: -m -a -i -u -f -l -t -e --module-name --args --inventory --user --limit
zfs: -o -t -r
gpg gpg2: --homedir -u -r --default-key --keyring -o --output
curl: -X --request -o --output -d --data --data-raw --data-binary --data-urlencode -H --header -u
    --user -A -e -b -c -F --form -K --config -T --upload-file -x --proxy -m --max-time
    --connect-timeout -w --write-out -E --cert --key --cacert --output-dir -D --dump-header --retry
    --resolve --url -C --continue-at -r --range
wget: -O -o -a -P -i -e -t -T -U -B -Q -w --output-document --output-file --append-output
    --directory-prefix --input-file --execute --tries --timeout --user-agent --header --user
    --password --method --body-data --body-file --post-data --post-file --use-askpass --config
tar bsdtar gtar: -f -C -T -X -I -g -K -N -V -b -H -F -L --file --directory --files-from --exclude
    --exclude-from --use-compress-program --to-command --checkpoint-action --transform --xform
    --strip-components --owner --group --mode --mtime --format --one-top-level
crontab: -u
ssh: -b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w -B -P
""")
SINGLE = listed("terraform tofu terragrunt packer nomad consul vault find sqlite3")
"""Programs whose long options have one dash."""
DOCKERS = listed("docker podman nerdctl")


def values_of(program: str) -> frozenset[str]:
    """Return the options of a program that take the next word."""
    return frozenset(_VALUES.get(program, ()))


def all_values_of(program: str) -> frozenset[str]:
    """Return the same, including those of `docker compose` for `docker`."""
    return values_of(program) | (values_of("compose") if program in DOCKERS else frozenset())


class Arguments:
    """A command's arguments, split into options and operands."""

    __slots__ = ("given", "operands", "options")

    def __init__(
        self, tokens: Sequence[Word], values: Iterable[str] = (), *, single: bool = False
    ) -> None:
        self.options: dict[str, list[Word | None]] = {}
        self.operands: list[Word] = []
        self.given: list[str] = []
        """The options as they were written."""
        taking = frozenset(values)
        place = 0
        while place < len(tokens):
            word = tokens[place]
            place += 1
            text = word.text
            if text == "--":
                self.operands += tokens[place:]
                return
            if len(text) < 2 or text[0] != "-":
                self.operands.append(word)
                continue
            self.given.append(text)
            if text.startswith("--") or single:
                place += self._long(word, taking, tokens, place)
            else:
                place += self._short(word, taking, tokens, place)

    def _long(self, word: Word, taking: frozenset[str], tokens: Sequence[Word], place: int) -> int:
        name, equals, value = word.text.partition("=")
        if equals:
            self._add(name, word._replace(text=value))
        elif name in taking and place < len(tokens):
            self._add(name, tokens[place])
            return 1
        else:
            self._add(name, None)
        return 0

    def _short(self, word: Word, taking: frozenset[str], tokens: Sequence[Word], place: int) -> int:
        for at, letter in enumerate(word.text[1:40], 1):
            option = "-" + letter
            if option not in taking:
                self._add(option, None)
                continue
            rest = word.text[at + 1 :]
            if rest:
                self._add(option, word._replace(text=rest))
                return 0
            self._add(option, tokens[place] if place < len(tokens) else None)
            return 1
        return 0

    def _add(self, name: str, value: Word | None) -> None:
        self.options.setdefault(name, []).append(value)

    def has(self, *names: str) -> bool:
        """Whether one of these options was given, even if a long one was abbreviated."""
        if any(name in self.options for name in names):
            return True
        return any(
            name.startswith(given)
            for given in self.options
            if len(given) > 4 and given.startswith("--")
            for name in names
        )

    def value(self, *names: str) -> str:
        """Return the last value of these options; "" if there is none."""
        texts = [word.text for name in names for word in self.options.get(name, ()) if word]
        return texts[-1] if texts else ""

    def values(self, *names: str) -> list[Word]:
        return [word for name in names for word in self.options.get(name, ()) if word]


def first_operand(tokens: Sequence[Word], values: Iterable[str] = (), operands: int = 0) -> int:
    """Return where a wrapper's command begins: after its options and its own operands."""
    taking = frozenset(values)
    place = 0
    while place < len(tokens):
        text = tokens[place].text
        if text == "--":
            place += 1
            break
        if len(text) < 2 or text[0] not in "-+":
            break
        place += 1
        if text.startswith("--"):
            place += text in taking
        else:
            letters = [("-" + letter) in taking for letter in text[1:40]]
            place += True in letters and letters.index(True) == len(letters) - 1
    return place + operands
