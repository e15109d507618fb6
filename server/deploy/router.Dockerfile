# sglang-router, the router in front of the replicas. Checked by `server/deploy/check`.
#
#   docker build -f server/deploy/router.Dockerfile -t slowburn-router:0.3.2 server/deploy

FROM python:3.12-slim-bookworm
RUN pip install --no-cache-dir sglang-router==0.3.2 \
    && useradd --system --no-create-home --uid 10001 router
USER 10001:10001
EXPOSE 30000 29000
ENTRYPOINT ["sglang-router", "launch", "--host", "0.0.0.0"]
