#!/bin/bash
# Whether this node runs in a whole cluster: all three nodes run and it sees them. For containers. It asks the management
# port, which costs little; rabbitmqctl starts an Erlang machine for every question.
set -euo pipefail
user_file=/etc/rabbitmq/conf.d/90-user.conf
user=$(sed -n 's/^default_user = //p' "$user_file")
password=$(sed -n 's/^default_pass = //p' "$user_file")
login=$(printf '%s:%s' "$user" "$password" | base64 --wrap=0)

exec 3<>/dev/tcp/127.0.0.1/15672
printf 'GET /api/nodes?columns=name,running HTTP/1.0\r\nAuthorization: Basic %s\r\n\r\n' "$login" >&3
running=$({ grep -o '"running":true' <&3 || true; } | wc -l)
echo "$running of 3 nodes run"
[ "$running" -eq 3 ]
