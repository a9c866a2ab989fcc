import { useEffect, useState } from 'preact/hooks';
import { Dialog } from '../shared/dialog.tsx';
import { Field } from '../shared/field.tsx';
import { call, failureOf } from './api.ts';
import { loadPolicies } from './policy-list.ts';
import { say, store } from './state.ts';
import { useStore } from './store.ts';
import type { Policy } from './wire.ts';
import { failureWords } from './words.ts';

const NEW: Policy = { code: '', title: '', text: '', active: true, version: 0 };

export function Policies() {
  const { policies, me } = useStore(store);
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
        A rejection or a removal names one of these; its title and text are what the author is told.
        {lead ? '' : ' A lead can change them.'}
      </p>
      <ol class="policy-list">
        {policies.map((policy, index) => (
          <li key={policy.code} class={policy.active ? '' : 'off'}>
            <div class="list-line">
              <h3>
                {policy.active && index < 9 && <kbd>{keyOf(policies, policy)}</kbd>} {policy.title}
              </h3>
              {lead && (
                <button type="button" class="button quiet" onClick={() => edit(policy)}>
                  Edit<span class="visually-hidden"> {policy.title}</span>
                </button>
              )}
            </div>
            <p>{policy.text}</p>
            <p class="hint">
              <span class="code">{policy.code}</span> · version {policy.version} ·{' '}
              {policy.active ? 'in force' : 'not in force'}
            </p>
          </li>
        ))}
      </ol>
      {edited && <Editor policy={edited} onClose={() => edit(null)} />}
    </section>
  );
}

const keyOf = (policies: readonly Policy[], policy: Policy): number =>
  policies.filter(({ active }) => active).indexOf(policy) + 1;

function Editor({ policy, onClose }: { policy: Policy; onClose: () => void }) {
  const [value, change] = useState(policy);
  const [fault, setFault] = useState<string | null>(null);
  const [sending, setSending] = useState(false);
  const isNew = policy.version === 0;
  const save = async () => {
    if (sending) return;
    setSending(true);
    const { code, title, text, active } = value;
    try {
      const body = { code, title, text, active, expected_version: policy.version };
      await call('PUT', 'policies', body);
      await loadPolicies();
      say('Saved.');
      onClose();
    } catch (error) {
      const failure = failureOf(error);
      setFault(
        failure.reason === 'version_mismatch'
          ? 'Somebody changed it since you opened it. What you typed is kept; close to see theirs.'
          : failureWords(failure),
      );
      setSending(false);
    }
  };
  return (
    <Dialog title={isNew ? 'New policy' : `Edit: ${policy.title}`} onClose={onClose}>
      <form
        class="policy-form"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        {fault && (
          <p class="box bad" role="alert">
            {fault}
          </p>
        )}
        {isNew && (
          <Field
            label="Code"
            name="code"
            code
            hint="a–z, 0–9 and _; it can never be changed"
            value={value.code}
            onValue={(code) => change({ ...value, code })}
          />
        )}
        <Field
          label="Title"
          name="title"
          most={80}
          value={value.title}
          onValue={(title) => change({ ...value, title })}
        />
        <Field
          label="What the author is told"
          name="text"
          rows={4}
          most={1000}
          value={value.text}
          onValue={(text) => change({ ...value, text })}
        />
        <label class="check">
          <input
            type="checkbox"
            checked={value.active}
            onChange={(event) => change({ ...value, active: event.currentTarget.checked })}
          />
          In force
        </label>
        <div class="row-buttons">
          <button type="submit" class="button primary" aria-disabled={sending ? 'true' : undefined}>
            Save
          </button>
        </div>
      </form>
    </Dialog>
  );
}
