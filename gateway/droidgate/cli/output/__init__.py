"""What commands print: pages, JSON documents and SARIF."""
