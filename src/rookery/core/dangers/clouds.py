"""Irreversible actions on containers, clusters, clouds and deployments: what deletes machines, data
or whole projects. The clouds' tools share a shape: words that narrow down, then a verb; the first
verb counts."""

import re

from rookery.core.command_line.arguments import Arguments
from rookery.core.command_line.syntax import Simple, listed
from rookery.core.dangers import sql
from rookery.core.dangers.tables import Check

TABLE = """
deletes volumes with their data: docker volume rm|remove|prune !--dry-run
deletes containers, images or volumes: docker system prune;
    docker system reset (podman system reset); docker rm|rmi;
    docker container|image|network|builder|buildx|pod rm|remove|prune|rmi (docker prune);
    docker buildx prune|rm
deletes it: docker stack|service|secret|config|context|plugin|machine|manifest rm|remove (docker);
    nomad volume|namespace|acl delete|deregister (nomad)
leaves the swarm with its data: docker swarm leave -f|--force (docker swarm leave)
deletes volumes or images: docker compose down -v|--volumes|--rmi !--dry-run (compose down -v);
    docker-compose down -v|--volumes|--rmi !--dry-run (compose down -v)
deletes containers: docker compose rm !--dry-run; docker-compose rm !--dry-run (compose rm);
    lxc ~delete|rm (lxc delete); incus ~delete|rm (incus delete); lxc-destroy
deletes a checkpoint: docker checkpoint rm
deletes containers or images: crictl rm|rmi|rmp (crictl); ctr ~rm|remove|delete|del;
    buildah rm|rmi|prune (buildah)
deletes an image of a registry: skopeo delete; crane delete
deletes objects of a cluster: kubectl delete !--dry-run; kubectl adm prune|drain|delete (oc adm);
    flux delete|uninstall !--dry-run (flux); istioctl ~uninstall|purge (istioctl uninstall)
stops everything that it runs: docker service scale @*=0 (scale to 0);
    docker compose up|scale --scale=*=0 (scale to 0);
    docker-compose up|scale --scale=*=0 (scale to 0); docker compose scale @*=0 (scale to 0);
    docker service update --replicas=0 (scale to 0); heroku ps:scale @*=0|*=0:* (scale to 0);
    dokku ps:scale @*=0 (scale to 0); fly scale count 0 (scale to 0); nomad job scale @0 ();
    cf scale -i=0 (scale to 0); render ~scale @0 (scale to 0); flyctl scale count 0 (scale to 0)
ends everything on a node: kubectl drain !--dry-run
deletes and recreates objects: kubectl replace --force !--dry-run
deletes objects that are not listed: kubectl apply --prune !--dry-run
deletes entries of a kubeconfig: kubectl config delete-context|delete-cluster|delete-user|unset ()
deletes a release: helm uninstall|delete|del|un !--dry-run
replaces a release: helm rollback --force !--dry-run
replaces a release's objects: helm upgrade --force !--dry-run|--install
deletes releases: helmfile destroy|delete
deletes an application: argocd ~delete|delete-resource|terminate-op
deletes backups: velero ~delete (velero delete)
takes a node apart: kubeadm reset !--dry-run
deletes a cluster: k3s-uninstall.sh; k3s-agent-uninstall.sh; rke remove; eksctl delete; kops delete;
    minikube delete; kind delete; k3d ~delete|rm
deletes a machine: colima delete; limactl delete|factory-reset;
    virsh destroy|undefine|snapshot-delete|snapshot-revert (virsh); machinectl remove|clean;
    VBoxManage ~unregistervm|closemedium --delete* (VBoxManage); qm destroy|rollback|delsnapshot;
    govc @vm.destroy|datastore.rm|object.destroy|snapshot.remove; prlctl delete|unregister (prlctl);
    tart delete
deletes a job: nomad job stop -purge|--purge; nomad stop -purge|--purge
deletes what has ended: nomad system gc
deletes machines: vagrant destroy; multipass delete|purge
deletes snapshots: vagrant snapshot delete|restore|pop (vagrant snapshot)
deletes its disks: virsh vol-delete|vol-wipe|pool-delete|net-undefine|net-destroy (virsh)
deletes a container: pct destroy|rollback|delsnapshot
as docker: podman; nerdctl
as docker-compose: podman-compose
as kubectl: oc; k
as VBoxManage: vboxmanage
destroys what it manages: terraform destroy; terraform apply -destroy|--destroy;
    terraform run-all|run destroy (terragrunt run-all destroy);
    terraform destroy-all (terragrunt destroy-all);
    terraform stack run destroy (terragrunt stack run destroy); pulumi destroy|down !--preview-only;
    cdk destroy; cdktf destroy; sls remove (serverless remove); sst remove; sam delete;
    amplify delete|remove; copilot ~delete (copilot delete); chalice delete; zappa undeploy;
    azd down
changes what it manages unseen: terraform apply -auto-approve|--auto-approve (apply -auto-approve);
    terraform run-all apply (terragrunt run-all apply);
    pulumi up|update -y|--yes|-f|--skip-preview (pulumi up --yes)
drops it from the state: terraform state rm|push|replace-provider !-dry-run;
    pulumi state delete|unprotect
deletes a workspace: terraform workspace delete
breaks a lock: terraform force-unlock
deletes a stack: pulumi stack rm
deletes settings: pulumi config|schedule|org rm|rm-all|delete (pulumi)
destroys an environment: eb terminate
deletes tables or datasets: bq rm
deletes stored files: gsutil rm|rb; gsutil rsync -d !-n; s3cmd del|rm|rb|expire !-n|--dry-run;
    s3cmd sync --delete-removed !-n|--dry-run; s5cmd rm|rb !--dry-run;
    s5cmd sync --delete !--dry-run; b2 ~rm|delete-bucket|delete-file-version|delete-key;
    swift delete; azcopy remove|rm !--dry-run;
    azcopy sync --delete-destination=true !--dry-run (azcopy sync)
deletes it from the cloud: fly ~destroy|delete (fly destroy); vercel ~rm|remove (vercel remove);
    wrangler ~delete|remove|purge !--dry-run (wrangler delete); railway ~down|delete|remove
deletes it: fly volumes|volume|machine|machines|m|ips|certs rm|remove|release (fly);
    heroku @*:destroy|*:delete|destroy|pg:reset|pg:killall|repo:reset; tea ~delete|rm
deletes deployments: now remove|rm (now rm)
deletes a site: netlify @sites:delete|env:unset|blobs:delete|api:delete*
deletes data: firebase @*:delete|database:remove|hosting:disable|database:set
deletes a service: render ~delete
deletes it from the server: dokku @*:destroy|config:clear
overwrites it: heroku @pg:push|pg:copy|pg:backups:restore|domains:clear|keys:clear
deletes it from GitHub: gh * delete|remove|delete-asset|item-delete|field-delete (gh delete);
    gh api -X=DELETE|--method=DELETE|-X=delete (gh api -X DELETE)
deletes a branch: gh pr|issue close -d|--delete-branch (gh pr close --delete-branch)
overwrites a branch: gh repo sync --force
deletes it from GitLab: glab ~delete (glab delete);
    glab api -X=DELETE|--method=DELETE (glab api -X DELETE)
deletes a repository: hub delete
as terraform: tofu; terragrunt
as sls: serverless
as fly: flyctl
"""

_VERBS = listed("delete destroy terminate purge rm remove-all del wipe delete-all")
_READS = listed(
    "list ls describe get show create update help print add cat export view info status config "
    "set set-iam-policy logs search read wait ssh exists deploy start stop restart"
)


def cloud(command: Simple, arguments: Arguments) -> str:
    """Judge `gcloud compute instances delete`, `az vm delete`, `doctl compute droplet delete`."""
    operands = [word.text for word in arguments.operands]
    if "help" in operands[:1] or arguments.has("--dry-run", "--validate-only"):
        return ""
    for word in operands[1:7]:
        if word in _READS:
            break
        if word in _VERBS or word.startswith(("delete-", "terminate-", "purge-")):
            return f"deletes it from the cloud ({word})"
    if arguments.has("--delete-unmatched-destination-objects", "--delete-removed"):
        return "deletes stored files (rsync)"
    if arguments.value("--mode").lower() == "complete":
        return "deletes what is not in the template (--mode Complete)"
    text = arguments.value("--sql", "--query-text")
    return sql.judge(text) if text else to_nothing(command, arguments)


_AWS_VERBS = re.compile(
    r"(batch-)?(delete|terminate|purge|deregister|destroy|schedule-key-deletion"
    r"|release-address|release-hosts|close-account|cancel-key|disable-key|reset-db|empty)(-|$)"
)


def aws(command: Simple, arguments: Arguments) -> str:
    operands = [word.text for word in arguments.operands]
    if "help" in operands[:3] or arguments.has("--dry-run", "--dryrun", "--generate-cli-skeleton"):
        return ""
    service, verb = [*operands, "", ""][:2]
    if service == "s3":
        if verb in ("rm", "rb"):
            return f"deletes stored files (aws s3 {verb})"
        if verb == "sync" and arguments.has("--delete"):
            return "deletes stored files (aws s3 sync --delete)"
        return ""
    if _AWS_VERBS.match(verb):
        return f"deletes it from the cloud (aws {service} {verb})"
    batch = arguments.value("--change-batch", "--request-items", "--delete")
    if re.search(r"\"?(DeleteRequest|DELETE)\"?", batch):
        return f"deletes it from the cloud (aws {service} {verb})"
    text = arguments.value("--query-string", "--sql", "--statement")
    return sql.judge(text) if text else to_nothing(command, arguments)


_COUNTS = frozenset(
    f"--{name}"
    for name in (
        *("replicas", "desired-count", "desired-capacity", "new-capacity", "num-nodes", "size"),
        *("node-count", "instance-count", "count", "instances", "max-instances", "nodes"),
        *("max-size", "node-pool-size", "target-size", "capacity"),
    )
)


def to_nothing(command: Simple, arguments: Arguments) -> str:
    """Return why scaling to zero is dangerous: everything stops."""
    argv = command.argv
    if arguments.has("--dry-run") and arguments.value("--dry-run") != "none":
        return ""
    for place, text in enumerate(argv):
        name, _, value = text.partition("=")
        if name in _COUNTS and (value or [*argv, ""][place + 1]) == "0":
            return f"stops everything that it runs ({name} 0)"
    zero = re.search(r"\"?replicas\"?\s*:\s*0\b", " ".join(argv))
    return "stops everything that it runs (replicas: 0)" if zero and "patch" in argv else ""


def ansible(_command: Simple, arguments: Arguments) -> str:
    text = arguments.value("-a", "--args")
    return "removes it on every host (state=absent)" if "state=absent" in text else ""


def http(command: Simple, arguments: Arguments) -> str:
    """Judge a DELETE over HTTP."""
    operands = [word.text for word in arguments.operands]
    method = arguments.value("-X", "--request", "--method").upper()
    if command.program in ("http", "https", "xh", "xhs"):
        method = method or next(iter(operands), "")
    if method == "DELETE":
        return f"deletes through the web ({command.program} DELETE)"
    paths = [text for text in operands if "_delete_by_query" in text]
    return "deletes through the web (_delete_by_query)" if paths else ""


CHECKS: dict[str, Check] = dict.fromkeys(
    (
        *("gcloud", "az", "doctl", "linode-cli", "hcloud", "scw", "ibmcloud", "oci", "openstack"),
        *("aliyun", "tccli", "exo", "civo", "vultr-cli", "upctl", "aiven", "avn", "yc", "cf"),
        *("confluent", "ccloud", "mongocli", "atlas", "pscale", "neonctl", "koyeb", "okteto"),
        *("kamatera", "ovhcloud", "rosa", "ocm", "cloudctl", "stripe", "databricks", "snow"),
        *("argo", "tkn", "keycloak", "kcadm.sh", "auth0", "sentry-cli", "pass-cli", "op", "bw"),
    ),
    cloud,
)
CHECKS |= dict.fromkeys(("kubectl", "oc", "k", "eksctl"), to_nothing)
CHECKS |= {"aws": aws, "awslocal": aws, "ansible": ansible}
CHECKS |= dict.fromkeys(("curl", "http", "https", "xh", "xhs", "wget"), http)
