"""UFO's two MobileAgent servers: names, tools and results as UFO's own client reads them."""
