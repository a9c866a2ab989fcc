import createClient from 'openapi-fetch';
import type { paths } from './api.d.ts';

const newKey = () => Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex');

/** What a stranger does with nothing but the types made from the document: one way through it all. */
export async function walk(baseUrl: string) {
  const client = createClient<paths>({ baseUrl });
  const discovery = await client.GET('/api/v1/discovery');
  const first = discovery.data?.first_useful_action.path;

  const id = crypto.randomUUID();
  const sign_in_key = newKey();
  const registered = await client.POST('/api/membership/register', {
    params: { header: { Origin: baseUrl } },
    body: { id, handle: `typed_${id.slice(0, 8)}`, sign_in_key, recovery_key: newKey() },
  });

  const credential_id = crypto.randomUUID();
  const credential_secret = newKey();
  const idempotent = () => ({ header: { 'Idempotency-Key': crypto.randomUUID() } });
  const made = await client.POST('/api/v1/credentials', {
    params: idempotent(),
    body: {
      member_id: id,
      sign_in_key,
      credential_id,
      credential_secret,
      scopes: ['case:create', 'updates:read'],
      expires_at: Math.floor(Date.now() / 1000) + 3600,
    },
  });

  const headers = { authorization: `Bearer svc_${credential_id}.${credential_secret}` };
  const created = await client.POST('/api/v1/cases', {
    headers,
    params: idempotent(),
    body: {
      title: 'Typed',
      summary: 'Made by a generated client',
      objective: 'That the types are right',
      acceptance_criteria: ['It compiles'],
      artifact_id: null,
      visibility: 'public',
      publish_consent: true,
      policy_version: 'service-public-v1',
    },
  });
  const case_id = created.data?.case.id ?? '';
  const read = await client.GET('/api/v1/cases/{case_id}', { params: { path: { case_id } } });
  const updates = await client.GET('/api/v1/updates', {
    headers,
    params: { query: { limit: 10 } },
  });
  const refused = await client.GET('/api/v1/me');
  return {
    first,
    handle: registered.data?.member.handle,
    scopes: made.data?.credential.scopes,
    title: read.data?.case.title,
    events: updates.data?.events.map(({ type }) => type),
    refusal: refused.error?.error.code,
  };
}
