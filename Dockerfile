# The emulator, for programs in any language:
#   docker build -t svcnb .
#   docker run --rm -p 127.0.0.1:8080:8080 -e SVC_CONTROL_TOKEN=choose-a-secret svcnb
FROM python:3.13-slim-bookworm AS build
WORKDIR /source
COPY . .
# The build does not need git, because the source contains the version. Deno, which builds the front end, is a wheel.
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.13-slim-bookworm
LABEL org.opencontainers.image.title="svcnb emulator" \
      org.opencontainers.image.licenses="Apache-2.0"
ENV PYTHONUNBUFFERED=1 \
    SVC_CACHE=/opt/svcnb \
    SVC_HOST=0.0.0.0 \
    SVC_PORT=8080
COPY constraints.txt /tmp/constraints.txt
COPY --from=build /wheels /wheels
# `svcnb fetch` downloads the chain node, so that the container starts without a network.
RUN wheel="$(ls /wheels/svcnb-*.whl)" \
    && pip install --no-cache-dir -c /tmp/constraints.txt "${wheel}[emulator]" \
    && svcnb fetch \
    && useradd --create-home --uid 1000 svcnb \
    && chown -R svcnb /opt/svcnb \
    && rm -r /wheels /tmp/constraints.txt
USER 1000
EXPOSE 8080
# Choose the token of the control plane with SVC_CONTROL_TOKEN. Without it, each start generates a token and prints it in
# its first line of output.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s \
  CMD ["python", "-c", "import os, urllib.request as r; r.build_opener(r.ProxyHandler({})).open('http://127.0.0.1:' + os.environ['SVC_PORT'] + '/health', timeout=4)"]
ENTRYPOINT ["svcnb"]
CMD ["emulator"]
