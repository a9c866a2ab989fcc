import { randomBytes, randomUUID } from 'node:crypto';
import createClient from 'openapi-fetch';
import type { paths } from './client/schema.js';

const baseUrl = process.argv[2] as string;
const client = createClient<paths>({ baseUrl });

const newKey = () => randomBytes(32).toString('hex');
const newIdempotencyKey = () => ({ header: { 'Idempotency-Key': randomUUID() } });

const member_id = randomUUID();
const sign_in_key = newKey();
const registered = await client.POST('/api/membership/register', {
  params: { header: { Origin: baseUrl } },
  body: {
    id: member_id,
    handle: `generated_${member_id.slice(0, 8)}`,
    sign_in_key,
    recovery_key: newKey(),
  },
});

const credential_id = randomUUID();
const credential_secret = newKey();
const created = await client.POST('/api/v1/credentials', {
  params: newIdempotencyKey(),
  body: {
    member_id,
    sign_in_key,
    credential_id,
    credential_secret,
    scopes: ['case:create', 'updates:read'],
    expires_at: Math.floor(Date.now() / 1000) + 3600,
  },
});
const headers = { authorization: `Bearer svc_${credential_id}.${credential_secret}` };

const opened = await client.POST('/api/v1/cases', {
  headers,
  params: newIdempotencyKey(),
  body: {
    title: 'Generated',
    summary: 'Opened by a generated client',
    objective: 'Show that the document describes the service',
    acceptance_criteria: ['The program ends without an error'],
    artifact_id: null,
    visibility: 'public',
    publish_consent: true,
    policy_version: 'service-public-v1',
  },
});
const case_id = opened.data?.case.id ?? '';
const read = await client.GET('/api/v1/cases/{case_id}', { params: { path: { case_id } } });
const updates = await client.GET('/api/v1/updates', { headers, params: { query: { limit: 10 } } });
const missing = await client.GET('/api/v1/cases/{case_id}', {
  params: { path: { case_id: randomUUID() } },
});

console.log(
  JSON.stringify({
    handle: registered.data?.member.handle,
    scopes: created.data?.credential.scopes,
    title: read.data?.case.title,
    events: updates.data?.events.map((event) => event.type),
    error: missing.error?.error.code,
  }),
);
