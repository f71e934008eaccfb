# The servers, a target each: standalone, matching-server, main-server.
#
#   docker build --target main-server --tag dovetail/main-server .
#
# Dependencies are built from the manifests alone, with empty crates in place of ours, so a changed source does not build
# them again. Plain instructions only: the classic builder (docker.io of Debian) and BuildKit both run them.

FROM rust:1.95.0-slim-bookworm AS toolchain
WORKDIR /src

# All manifests, and every library and program of ours without its content. The next stage is built anew when these
# change, which a change of a source does not.
FROM toolchain AS manifests
COPY . .
RUN find . -type f ! -name Cargo.toml ! -name Cargo.lock ! -path './*/src/lib.rs' ! -path './*/src/main.rs' -delete \
    && find . -name lib.rs -exec truncate --size=0 {} + \
    && for program in ./*/src/main.rs; do echo 'fn main() {}' >"$program"; done

FROM toolchain AS dependencies
COPY --from=manifests /src ./
RUN cargo build --release --locked -p main-server -p matching-server -p standalone

# Copied files keep their dates. Without a newer one cargo would take the empty crates for what they stand for.
FROM dependencies AS build
COPY . .
RUN find . -path ./target -prune -o -name '*.rs' -exec touch {} + \
    && cargo build --release --locked -p main-server -p matching-server -p standalone \
    && mkdir /programs \
    && for program in main-server matching-server standalone; do \
           strip --strip-debug -o "/programs/$program" "target/release/$program" || exit 1; \
       done

# What runs: libc, a shell for the health checks, one program. A user by number needs no entry in any file.
FROM debian:12.13-slim AS runtime
ENV DOVETAIL_LOG_FORMAT=json

# In one process, on SQLite. Give it a volume at /data that the user 10001 may write to.
FROM runtime AS standalone
COPY --from=build /programs/standalone /usr/local/bin/
RUN install --directory --owner=10001 --group=10001 /data
USER 10001:10001
# Others reach a container's addresses, so callers must be known: mode dev refuses to start here.
ENV DOVETAIL_LISTEN=0.0.0.0:8080 DOVETAIL_ADMIN=0.0.0.0:8081 DOVETAIL_DATA=/data DOVETAIL_AUTH=jwt
EXPOSE 8080 8081
VOLUME /data
HEALTHCHECK --interval=5s --timeout=3s --start-period=40s --retries=3 \
    CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/8081 && printf 'GET /ready HTTP/1.0\\r\\n\\r\\n' >&3 && grep -q '^HTTP/1.[01] 200' <&3"]
ENTRYPOINT ["standalone"]

FROM runtime AS matching-server
COPY --from=build /programs/matching-server /usr/local/bin/
USER 10001:10001
ENV DOVETAIL_ADMIN=0.0.0.0:8082
EXPOSE 8082
HEALTHCHECK --interval=5s --timeout=3s --start-period=40s --retries=3 \
    CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/8082 && printf 'GET /ready HTTP/1.0\\r\\n\\r\\n' >&3 && grep -q '^HTTP/1.[01] 200' <&3"]
ENTRYPOINT ["matching-server"]

FROM runtime AS main-server
COPY --from=build /programs/main-server /usr/local/bin/
USER 10001:10001
ENV DOVETAIL_LISTEN=0.0.0.0:8080 DOVETAIL_ADMIN=0.0.0.0:8081 DOVETAIL_AUTH=jwt
EXPOSE 8080 8081
HEALTHCHECK --interval=5s --timeout=3s --start-period=40s --retries=3 \
    CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/8081 && printf 'GET /ready HTTP/1.0\\r\\n\\r\\n' >&3 && grep -q '^HTTP/1.[01] 200' <&3"]
ENTRYPOINT ["main-server"]
