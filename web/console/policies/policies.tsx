import { useEffect, useState } from 'preact/hooks';
import { loadPolicies, policyState } from '../decide/policy-list.tsx';
import { connectionState } from '../session/connection.ts';
import type { Policy } from '../words/api-model.ts';
import { Backtest } from './backtest.tsx';
import { PolicyEditor } from './policy-editor.tsx';

const NEW: Policy = { code: '', title: '', text: '', active: true, version: 0, messages: [] };

export function Policies() {
  const { policies } = policyState();
  const { me } = connectionState();
  const [edited, edit] = useState<Policy | null>(null);
  useEffect(() => void loadPolicies(), []);
  const lead = me?.role === 'lead';
  return (
    <section class="page" aria-labelledby="page-title">
      <div class="list-line">
        <h2 id="page-title" tabIndex={-1}>
          Policies
        </h2>
        {lead && (
          <button type="button" class="button" onClick={() => edit(NEW)}>
            New policy
          </button>
        )}
      </div>
      <p class="hint">
        Every rejection or removal names one of these policies. Members are notified which one.
        {lead ? '' : ' Only a lead can change policies.'}
      </p>
      <ol class="policy-list">
        {policies.map((policy, index) => (
          <li key={policy.code} class={policy.active ? '' : 'off'}>
            <div class="list-line">
              <h3>
                {policy.active && index < 9 && <kbd>{policyKey(policies, policy)}</kbd>}{' '}
                {policy.title}
              </h3>
              {lead && (
                <button type="button" class="button quiet" onClick={() => edit(policy)}>
                  Edit<span class="visually-hidden"> {policy.title}</span>
                </button>
              )}
            </div>
            <p>{policy.text}</p>
            {policy.messages.length > 0 && (
              <ul class="messages" aria-label={`Prepared messages: ${policy.title}`}>
                {policy.messages.map((message) => (
                  <li key={message}>“{message}”</li>
                ))}
              </ul>
            )}
            <p class="hint">
              <span class="code">{policy.code}</span> · version {policy.version} ·{' '}
              {policy.active ? 'in force' : 'not in force'}
            </p>
          </li>
        ))}
      </ol>
      <Backtest />
      {edited && <PolicyEditor policy={edited} onClose={() => edit(null)} />}
    </section>
  );
}

const policyKey = (policies: readonly Policy[], policy: Policy): number =>
  policies.filter(({ active }) => active).indexOf(policy) + 1;
