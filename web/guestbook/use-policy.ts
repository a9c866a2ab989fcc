import { useEffect, useState } from 'preact/hooks';
import type { PublicPolicy } from '../../services/documents/policy-shape.ts';
import { call } from '../shared/api.ts';

type Policy = PublicPolicy['moderation']['policies'][number];

/** Read once for a page, when the first note names a policy. */
let reading: Promise<readonly Policy[]> | undefined;

async function readPolicies(): Promise<readonly Policy[]> {
  const answer = await call<PublicPolicy>('GET', '/policy.json');
  if (answer.kind === 'ok') return answer.body.moderation.policies;
  reading = undefined;
  return [];
}

/** The policy with this code, once it is read. Until then, its code is shown as its title. */
export function usePolicy(code: string | null | undefined): Policy | undefined {
  const [policies, setPolicies] = useState<readonly Policy[]>([]);
  useEffect(() => {
    if (!code) return;
    reading ??= readPolicies();
    void reading.then(setPolicies);
  }, [code]);
  if (!code) return undefined;
  return (
    policies.find((one) => one.code === code) ?? {
      code,
      title: code.replaceAll('_', ' '),
      text: '',
    }
  );
}
