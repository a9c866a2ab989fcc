-- Run once by the image of PostgreSQL, as the superuser, when the volume is empty: the roles of
-- docs/operating/roles.md. The passwords are those of the addresses that the other services get.
\set owner_password `sed -E 's#^[a-z]+://[^:]*:([^@]*)@.*#\1#' /run/secrets/owner-url`
\set service_password `sed -E 's#^[a-z]+://[^:]*:([^@]*)@.*#\1#' /run/secrets/database-url`
CREATE ROLE service_owner LOGIN PASSWORD :'owner_password';
CREATE ROLE service LOGIN PASSWORD :'service_password';
CREATE ROLE service_read LOGIN;
CREATE ROLE service_metrics LOGIN;
GRANT pg_monitor TO service_metrics;
CREATE DATABASE service OWNER service_owner;
-- What the release asks for: plans that do not depend on the values of one call.
ALTER ROLE service IN DATABASE service SET plan_cache_mode = 'force_generic_plan';
ALTER ROLE service IN DATABASE service SET enable_seqscan = 'off';
ALTER ROLE service IN DATABASE service SET jit = 'off';
ALTER ROLE service_read IN DATABASE service SET plan_cache_mode = 'force_generic_plan';
ALTER ROLE service_read IN DATABASE service SET enable_seqscan = 'off';
ALTER ROLE service_read IN DATABASE service SET jit = 'off';
