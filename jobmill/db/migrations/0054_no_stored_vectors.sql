-- Vectors of texts now take a fraction of a millisecond: they are computed whenever they are needed.
DROP TABLE matching.vector;
