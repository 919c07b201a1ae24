"""Containers, clusters and virtual machines: what deletes them with the data in them."""

_DATA = "deletes containers, images or volumes"
_COMPOSE = """
    down -v|--volumes|--rmi !--dry-run :: deletes volumes or images (compose down -v)
    rm !--dry-run :: deletes containers (compose rm)
"""
_DOCKER = f"""
    volume rm|remove|prune !--dry-run :: deletes volumes with their data (docker volume rm)
    system prune :: {_DATA} (docker system prune)
    system reset :: {_DATA} (podman system reset)
    rm|rmi :: {_DATA} (docker rm)
    container|image|network|builder|buildx|pod rm|remove|prune|rmi :: {_DATA} (docker prune)
    stack|service|secret|config|context|plugin|machine|manifest rm|remove :: deletes it (docker)
    swarm leave -f|--force :: leaves the swarm with its data (docker swarm leave)
    compose {_COMPOSE.strip().splitlines()[0].strip()}
    compose rm !--dry-run :: deletes containers (docker compose rm)
    buildx prune|rm :: {_DATA} (docker buildx prune)
    checkpoint rm :: deletes a checkpoint (docker checkpoint rm)
"""
_KUBE = """
    delete !--dry-run :: deletes objects of a cluster (kubectl delete)
    drain !--dry-run :: ends everything on a node (kubectl drain)
    replace --force !--dry-run :: deletes and recreates objects (kubectl replace --force)
    apply --prune !--dry-run :: deletes objects that are not listed (kubectl apply --prune)
    config delete-context|delete-cluster|delete-user|unset :: deletes an entry of your kubeconfig
    adm prune|drain|delete :: deletes objects of a cluster (oc adm)
"""
_HELM = """
    uninstall|delete|del|un !--dry-run :: deletes a release (helm uninstall)
    rollback --force !--dry-run :: replaces a release (helm rollback --force)
    upgrade --force !--dry-run|--install :: replaces a release's objects (helm upgrade --force)
"""

TABLE = {
    "docker": _DOCKER,
    "podman": _DOCKER,
    "nerdctl": _DOCKER,
    "docker-compose": _COMPOSE,
    "podman-compose": _COMPOSE,
    "crictl": "rm|rmi|rmp :: deletes containers or images (crictl)",
    "ctr": "~rm|remove|delete|del :: deletes containers or images (ctr)",
    "buildah": "rm|rmi|prune :: deletes containers or images (buildah)",
    "skopeo": "delete :: deletes an image of a registry (skopeo delete)",
    "crane": "delete :: deletes an image of a registry (crane delete)",
    "kubectl": _KUBE,
    "oc": _KUBE,
    "k": _KUBE,
    "helm": _HELM,
    "helmfile": "destroy|delete :: deletes releases (helmfile destroy)",
    "argocd": "~delete|delete-resource|terminate-op :: deletes an application (argocd)",
    "flux": "delete|uninstall !--dry-run :: deletes objects of a cluster (flux)",
    "istioctl": "~uninstall|purge :: deletes objects of a cluster (istioctl uninstall)",
    "velero": "~delete :: deletes backups (velero delete)",
    "kubeadm": "reset !--dry-run :: takes a node apart (kubeadm reset)",
    "k3s-uninstall.sh": ":: deletes a cluster (k3s-uninstall.sh)",
    "k3s-agent-uninstall.sh": ":: deletes a cluster (k3s-agent-uninstall.sh)",
    "rke": "remove :: deletes a cluster (rke remove)",
    "eksctl": "delete :: deletes a cluster (eksctl delete)",
    "kops": "delete :: deletes a cluster (kops delete)",
    "minikube": "delete :: deletes a cluster (minikube delete)",
    "kind": "delete :: deletes a cluster (kind delete)",
    "k3d": "~delete|rm :: deletes a cluster (k3d)",
    "colima": "delete :: deletes a machine (colima delete)",
    "limactl": "delete|factory-reset :: deletes a machine (limactl delete)",
    "nomad": """
        job stop -purge|--purge :: deletes a job (nomad job stop -purge)
        stop -purge|--purge :: deletes a job (nomad stop -purge)
        volume|namespace|acl delete|deregister :: deletes it (nomad)
        system gc :: deletes what has ended (nomad system gc)
    """,
    "vagrant": """
        destroy :: deletes machines (vagrant destroy)
        snapshot delete|restore|pop :: deletes snapshots (vagrant snapshot)
    """,
    "multipass": "delete|purge :: deletes machines (multipass delete)",
    "virsh": """
        destroy|undefine|snapshot-delete|snapshot-revert :: deletes a machine (virsh)
        vol-delete|vol-wipe|pool-delete|net-undefine|net-destroy :: deletes its disks (virsh)
    """,
    "lxc": "~delete|rm :: deletes containers (lxc delete)",
    "incus": "~delete|rm :: deletes containers (incus delete)",
    "lxc-destroy": ":: deletes containers (lxc-destroy)",
    "machinectl": "remove|clean :: deletes a machine (machinectl remove)",
    "VBoxManage": "~unregistervm|closemedium --delete* :: deletes a machine (VBoxManage)",
    "vboxmanage": "~unregistervm|closemedium --delete* :: deletes a machine (VBoxManage)",
    "qm": "destroy|rollback|delsnapshot :: deletes a machine (qm destroy)",
    "pct": "destroy|rollback|delsnapshot :: deletes a container (pct destroy)",
    "govc": "@vm.destroy|datastore.rm|object.destroy|snapshot.remove :: deletes a machine (govc)",
    "prlctl": "delete|unregister :: deletes a machine (prlctl)",
    "tart": "delete :: deletes a machine (tart delete)",
}
