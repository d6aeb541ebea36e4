"""What eth-keyfile needs of py-ecc, which needs a part of Python that browsers do not have."""
