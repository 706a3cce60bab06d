"""Parts of a list as tasks of clusters: the scripts of docs/cluster, and a Slurm of two nodes whose nodes die."""
