# docs/guides/in-a-container.md. The digest is of the tag's list of platforms; Dependabot writes newer ones.
FROM python:3.13-slim-bookworm@sha256:386df64585134ba00b1d5e307acb1e72f33e9e87dbbb00aad9b8f24dbb51db72

COPY locks/all.txt dist/droidgate-*.whl /tmp/install/
RUN pip install --no-cache-dir --require-hashes --no-deps --requirement /tmp/install/all.txt \
    && pip install --no-cache-dir --no-index --no-deps /tmp/install/droidgate-*.whl \
    && rm -r /tmp/install \
    && useradd --create-home --uid 1000 droidgate

ENV DROIDGATE_HOME=/home/droidgate
USER 1000
WORKDIR /work
ENTRYPOINT ["droidgate"]
