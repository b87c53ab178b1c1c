# syntax=docker/dockerfile:1
# Two stages: the first builds, the second has no compiler, no pip cache and no source.

FROM python:3.13.9-slim-bookworm AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore
WORKDIR /source
RUN python -m venv /opt/jobmill
COPY requirements.lock ./
RUN /opt/jobmill/bin/pip install --require-hashes --only-binary=:all: -r requirements.lock
COPY pyproject.toml setup.py requirements.in README.md LICENSE ./
COPY jobmill ./jobmill
RUN /opt/jobmill/bin/pip install --no-deps --no-build-isolation .

FROM python:3.13.9-slim-bookworm
# Pages that need JavaScript are read with Chromium: `docker build --build-arg CHROMIUM=yes .`
ARG CHROMIUM=no
RUN if [ "$CHROMIUM" = yes ]; then \
        apt-get update && apt-get install -y --no-install-recommends chromium && \
        rm -rf /var/lib/apt/lists/*; \
    fi
RUN useradd --system --uid 10001 --home-dir /var/lib/jobmill --create-home --shell /usr/sbin/nologin jobmill
COPY --from=build /opt/jobmill /opt/jobmill
ENV PATH=/opt/jobmill/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    JOBMILL_DATA_DIR=/var/lib/jobmill \
    JOBMILL_LOG_FORMAT=json
USER 10001:10001
WORKDIR /var/lib/jobmill
VOLUME /var/lib/jobmill
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import http.client as h; c = h.HTTPConnection('127.0.0.1', 8000, timeout=4); c.request('GET', '/healthz'); raise SystemExit(c.getresponse().status != 200)"]
# A second argument replaces `up`: `docker run jobmill doctor`.
ENTRYPOINT ["jobmill"]
CMD ["up", "--no-demo", "--host", "0.0.0.0", "--port", "8000"]
