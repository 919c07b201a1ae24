"""Clouds and what is deployed there: what deletes machines, data or whole projects. Their tools
share a shape: words that narrow down, then a verb; the first verb counts."""

import re

from rookery.core.command_line.arguments import Arguments
from rookery.core.command_line.words import Simple, listed
from rookery.core.dangers import sql
from rookery.core.dangers.tables import Check

TABLE = """
terraform destroy :: destroys what it manages (terraform destroy)
terraform apply -destroy|--destroy :: destroys what it manages (terraform apply -destroy)
terraform apply -auto-approve|--auto-approve :: changes what it manages unseen (apply -auto-approve)
terraform state rm|push|replace-provider !-dry-run :: drops it from the state (terraform state rm)
terraform workspace delete :: deletes a workspace (terraform workspace delete)
terraform force-unlock :: breaks a lock (terraform force-unlock)
terraform run-all|run destroy :: destroys what it manages (terragrunt run-all destroy)
terraform run-all apply :: changes what it manages unseen (terragrunt run-all apply)
terraform destroy-all :: destroys what it manages (terragrunt destroy-all)
terraform stack run destroy :: destroys what it manages (terragrunt stack run destroy)
tofu terragrunt = terraform
pulumi destroy|down !--preview-only :: destroys what it manages (pulumi destroy)
pulumi stack rm :: deletes a stack (pulumi stack rm)
pulumi state delete|unprotect :: drops it from the state (pulumi state delete)
pulumi up|update -y|--yes|-f|--skip-preview :: changes what it manages unseen (pulumi up --yes)
pulumi config|schedule|org rm|rm-all|delete :: deletes settings (pulumi)
cdk destroy :: destroys what it manages (cdk destroy)
cdktf destroy :: destroys what it manages (cdktf destroy)
sls remove :: destroys what it manages (serverless remove)
serverless = sls
sst remove :: destroys what it manages (sst remove)
sam delete :: destroys what it manages (sam delete)
amplify delete|remove :: destroys what it manages (amplify delete)
copilot ~delete :: destroys what it manages (copilot delete)
eb terminate :: destroys an environment (eb terminate)
chalice delete :: destroys what it manages (chalice delete)
zappa undeploy :: destroys what it manages (zappa undeploy)
azd down :: destroys what it manages (azd down)
bq rm :: deletes tables or datasets (bq rm)
gsutil rm|rb :: deletes stored files (gsutil rm)
gsutil rsync -d !-n :: deletes stored files (gsutil rsync -d)
s3cmd del|rm|rb|expire !-n|--dry-run :: deletes stored files (s3cmd del)
s3cmd sync --delete-removed !-n|--dry-run :: deletes stored files (s3cmd sync --delete-removed)
s5cmd rm|rb !--dry-run :: deletes stored files (s5cmd rm)
s5cmd sync --delete !--dry-run :: deletes stored files (s5cmd sync --delete)
b2 ~rm|delete-bucket|delete-file-version|delete-key :: deletes stored files (b2)
swift delete :: deletes stored files (swift delete)
azcopy remove|rm !--dry-run :: deletes stored files (azcopy remove)
azcopy sync --delete-destination=true !--dry-run :: deletes stored files (azcopy sync)
fly ~destroy|delete :: deletes it from the cloud (fly destroy)
fly volumes|volume|machine|machines|m|ips|certs rm|remove|release :: deletes it (fly)
flyctl = fly
vercel ~rm|remove :: deletes it from the cloud (vercel remove)
now remove|rm :: deletes deployments (now rm)
netlify @sites:delete|env:unset|blobs:delete|api:delete* :: deletes a site (netlify)
firebase @*:delete|database:remove|hosting:disable|database:set :: deletes data (firebase)
wrangler ~delete|remove|purge !--dry-run :: deletes it from the cloud (wrangler delete)
railway ~down|delete|remove :: deletes it from the cloud (railway)
render ~delete :: deletes a service (render)
dokku @*:destroy|config:clear :: deletes it from the server (dokku)
heroku @*:destroy|*:delete|destroy|pg:reset|pg:killall|repo:reset :: deletes it (heroku)
heroku @pg:push|pg:copy|pg:backups:restore|domains:clear|keys:clear :: overwrites it (heroku)
gh * delete|remove|delete-asset|item-delete|field-delete :: deletes it from GitHub (gh delete)
gh pr|issue close -d|--delete-branch :: deletes a branch (gh pr close --delete-branch)
gh repo sync --force :: overwrites a branch (gh repo sync --force)
gh api -X=DELETE|--method=DELETE|-X=delete :: deletes it from GitHub (gh api -X DELETE)
glab ~delete :: deletes it from GitLab (glab delete)
glab api -X=DELETE|--method=DELETE :: deletes it from GitLab (glab api -X DELETE)
hub delete :: deletes a repository (hub delete)
tea ~delete|rm :: deletes it (tea)
"""

_VERBS = listed("delete destroy terminate purge rm remove-all del wipe delete-all")
_READS = listed(
    "list ls describe get show create update help print add cat export view info status config "
    "set set-iam-policy logs search read wait ssh exists deploy start stop restart"
)


def cloud(_command: Simple, arguments: Arguments) -> str:
    """`gcloud compute instances delete`, `az vm delete`, `doctl compute droplet delete`."""
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
    return sql.judge(text) if text else ""


_AWS_VERBS = re.compile(
    r"(batch-)?(delete|terminate|purge|deregister|destroy|schedule-key-deletion"
    r"|release-address|release-hosts|close-account|cancel-key|disable-key|reset-db|empty)(-|$)"
)


def aws(_command: Simple, arguments: Arguments) -> str:
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
    return sql.judge(text) if text else ""


def ansible(_command: Simple, arguments: Arguments) -> str:
    text = arguments.value("-a", "--args")
    return "removes it on every host (state=absent)" if "state=absent" in text else ""


def http(command: Simple, arguments: Arguments) -> str:
    """A DELETE over the web."""
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
CHECKS |= {"aws": aws, "awslocal": aws, "ansible": ansible}
CHECKS |= dict.fromkeys(("curl", "http", "https", "xh", "xhs", "wget"), http)
