import { A2aFault } from './fault.ts';
import { type MessageSender, type SendDeps, sendMessage } from './send-message.ts';

type Method = (
  deps: SendDeps,
  params: Record<string, unknown>,
  caller: MessageSender,
) => Promise<unknown>;

const refused =
  (name: ConstructorParameters<typeof A2aFault>[0]): Method =>
  async () => {
    throw new A2aFault(name);
  };

/** Every method of the binding. The service has no task store, no streaming and no push. */
export const methods: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['SendMessage', sendMessage],
  ['SendStreamingMessage', refused('UNSUPPORTED_OPERATION')],
  ['SubscribeToTask', refused('UNSUPPORTED_OPERATION')],
  ['GetExtendedAgentCard', refused('UNSUPPORTED_OPERATION')],
  ['GetTask', refused('TASK_NOT_FOUND')],
  ['CancelTask', refused('TASK_NOT_FOUND')],
  ['ListTasks', listTasks],
  ['CreateTaskPushNotificationConfig', refused('PUSH_NOTIFICATION_NOT_SUPPORTED')],
  ['GetTaskPushNotificationConfig', refused('PUSH_NOTIFICATION_NOT_SUPPORTED')],
  ['ListTaskPushNotificationConfigs', refused('PUSH_NOTIFICATION_NOT_SUPPORTED')],
  ['DeleteTaskPushNotificationConfig', refused('PUSH_NOTIFICATION_NOT_SUPPORTED')],
]);

/** In ProtoJSON, null means absent, and a number may be sent as a string. */
async function listTasks(_: SendDeps, { pageSize: asked }: Record<string, unknown>) {
  const pageSize =
    typeof asked === 'string' && /^\d{1,3}$/.test(asked) ? Number(asked) : (asked ?? 50);
  if (!Number.isInteger(pageSize) || (pageSize as number) < 1 || (pageSize as number) > 100)
    throw new A2aFault('INVALID_PARAMS', undefined, [
      { path: 'pageSize', message: 'must be an integer from 1 to 100' },
    ]);
  return { tasks: [], nextPageToken: '', pageSize, totalSize: 0 };
}
