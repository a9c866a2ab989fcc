/** The version of the publishing policy that members accept. Pages send it too, so this file imports nothing. */
export const POLICY_VERSION = 'service-public-v1';
