-- What a person has typed so far: words, "phrases", or, -not. The last word also finds longer words, unless it is
-- quoted or excluded; of words with one or two letters only those in titles, companies and places.
CREATE FUNCTION catalog.words_query(words text) RETURNS tsquery
    LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
    RETURN (
        SELECT CASE
                   WHEN last_word IS NULL OR numnode(stem) = 0 AND numnode(whole) > 0 THEN whole
                   -- "the" may become "therapist".
                   WHEN numnode(whole) = 0 THEN beginning
                   ELSE ts_rewrite(whole, stem, stem || beginning || completed)
               END
          FROM -- PostgreSQL cannot parse more than 32 minus signs without a word between them. One that ends a
               -- word, as in "part- or full-time", excludes nothing.
               regexp_replace(catalog.searchable(words), '(^|[\s"()|&!<])-[-\s()|&!<]+', '\1-', 'g') AS typed,
               substring(typed FROM '^(?:(?:[^"]*"[^"]*")*[^"]*\s)?([^\s"()|&!-][^\s"]{0,99})\s*$') AS last_word,
               websearch_to_tsquery('english', typed) AS whole,
               websearch_to_tsquery('english', last_word) AS stem,
               to_tsquery('simple', '''' || replace(replace(last_word, '\', '\\'), '''', '''''') || ''':*'
                                    || CASE WHEN length(last_word) < 3 THEN 'AB' ELSE '' END) AS beginning,
               -- The index has stems: "nursin" is no beginning of the stem "nurs", but "nursing" has it.
               LATERAL (
                   SELECT to_tsquery('english', coalesce(string_agg(last_word || substr(ending, n + 1), ' | '), ''))
                     FROM unnest('{ing,er,or,ed,al,ly,ful,ous,ist,ize,ion,ation,ational,ator,ative,ive,ent,ence,ement,ment,ant,ance,ity,able,ability,ible,ibility,ical,ness}'::text[]) AS ending,
                          generate_series(CASE ending WHEN 'ing' THEN 0 ELSE 1 END, length(ending) - 1) AS n
                    WHERE last_word ~ '^[[:alpha:]]{3,}$' AND lower(right(last_word, n)) = left(ending, n)
               ) AS longer (completed)
    );
