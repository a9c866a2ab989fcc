-- A note that was erased while an appeal waited: nobody can judge what nobody can read.
UPDATE notes SET appeal = NULL, appealed_at = NULL WHERE erased_at IS NOT NULL AND appeal = 'open';
