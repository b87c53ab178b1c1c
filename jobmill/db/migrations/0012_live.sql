-- Says that something changed, so that pages which show it can look again.
-- A word a statement and a topic; PostgreSQL sends equal words of one transaction once.
CREATE FUNCTION public.jobmill_tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('jobmill_live', TG_ARGV[0]);
    RETURN NULL;
END $$;

CREATE TRIGGER live AFTER INSERT OR UPDATE ON hiring.opening
    FOR EACH STATEMENT EXECUTE FUNCTION public.jobmill_tell('hiring');
-- Written every two seconds by a worker that has done something.
CREATE TRIGGER live AFTER INSERT OR UPDATE ON queue.tally
    FOR EACH STATEMENT EXECUTE FUNCTION public.jobmill_tell('queue');
CREATE TRIGGER live AFTER INSERT OR UPDATE OR DELETE ON queue.alert
    FOR EACH STATEMENT EXECUTE FUNCTION public.jobmill_tell('queue');
CREATE TRIGGER live AFTER INSERT OR UPDATE OR DELETE ON queue.pause
    FOR EACH STATEMENT EXECUTE FUNCTION public.jobmill_tell('queue');
CREATE TRIGGER live AFTER INSERT OR UPDATE OR DELETE ON matching.match
    FOR EACH STATEMENT EXECUTE FUNCTION public.jobmill_tell('matches');
CREATE TRIGGER live AFTER INSERT OR UPDATE ON catalog.source
    FOR EACH STATEMENT EXECUTE FUNCTION public.jobmill_tell('sources');
CREATE TRIGGER live AFTER INSERT OR UPDATE ON catalog.company
    FOR EACH STATEMENT EXECUTE FUNCTION public.jobmill_tell('companies');
CREATE TRIGGER live AFTER INSERT ON rotation.call
    FOR EACH STATEMENT EXECUTE FUNCTION public.jobmill_tell('rotation');
CREATE TRIGGER live AFTER INSERT OR UPDATE ON budget.call
    FOR EACH STATEMENT EXECUTE FUNCTION public.jobmill_tell('budget');
