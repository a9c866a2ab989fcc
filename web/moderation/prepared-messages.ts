import { activePolicies } from './policy-list.ts';
import { changePanel, get, getDraft, type Panel, setDraft } from './state.ts';

interface PreparedMessage {
  policyTitle: string;
  text: string;
}

/** The prepared messages of all active policies, in the order of the policies. */
export const preparedMessages = (): PreparedMessage[] =>
  activePolicies().flatMap(({ title, messages }) =>
    messages.map((text) => ({ policyTitle: title, text })),
  );

/** Whether the panel chooses a policy, and therefore has messages to choose from. */
export const hasPrepared = ({ action }: Pick<Panel, 'action'>): boolean =>
  (action === 'reject' || action === 'remove') && preparedMessages().length > 0;

/** Shows or hides the prepared messages of the open panel. Returns whether there are any. */
export function togglePrepared(): boolean {
  const { panel } = get();
  if (!panel || !hasPrepared(panel)) return false;
  changePanel(panel.itemId, { prepared: !panel.prepared });
  return true;
}

/** Adds a prepared message to the typed text; a digit then decides under a policy. */
export function insertPrepared(index: number): void {
  const { panel } = get();
  const message = preparedMessages()[index];
  if (!panel || !message) return;
  const typed = getDraft(panel.itemId, panel.action).trim();
  setDraft(panel.itemId, panel.action, typed ? `${typed} ${message.text}` : message.text);
  changePanel(panel.itemId, { prepared: false });
  document.getElementById('panel')?.focus();
}
