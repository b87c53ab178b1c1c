"""How applications get a slot or a position: after a decision of the company, or by lot."""
